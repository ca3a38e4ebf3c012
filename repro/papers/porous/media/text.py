"""The sentences with numbers of the notebooks on porous media, as Markdown."""

import pandas as pd

from repro.lbm.media import PoreSpace
from repro.lbm.porous.permeability import FlowThrough, in_units

from .permeability import THESIS_WALLS
from .precision import loss


def cell_length_text(lengths: pd.DataFrame, drawn: pd.DataFrame) -> str:
    """Which cell and which equation the paper's analytical curve was drawn with, from its lowest point, chi = 0.6."""
    paper = float(drawn.loc[drawn["x"].idxmax(), "y"])
    length, formula = lengths.set_index("L").sub(paper).abs().stack().idxmin()
    return f"The paper draws {paper:.2f} at chi = 0.6: that is the {formula} with L = {length}, on a grid of 128 nodes."


def crystal_text(table: pd.DataFrame, summary: pd.DataFrame, nodes: int) -> str:
    """How far k lies from the series where that can be trusted, and how much it changes with the viscosity."""
    trusted = table.query("collision == 'mrt' and walls == 'half-way' and chi <= 0.85")["deviation (%)"]
    changes = "; ".join(
        f"{collision.upper()} with {walls} walls {spread:.3f} %"
        for (collision, walls), spread in summary["spread (%)"].items()
    )
    return (
        f"With two rates and half-way walls k deviates from the series by {trusted.min():.2f} to {trusted.max():.2f} % "
        f"for chi up to 0.85 on {nodes} voxels. Over the viscosity k changes by: {changes}. "
        f"The largest Reynolds number was {table['reynolds'].max():.2g}."
    )


def rise_note(summary: pd.DataFrame, collision: str) -> str:
    """By how much k rises from tau = 0.8 to 1 with each wall that ran, from `permeability.viscosity_summary`."""
    rises = summary["rise (%)"].xs(collision, level="collision")
    return ", ".join(f"{walls} walls {abs(rise):.3f} %" for walls, rise in rises.items())


def loss_note(shifted: FlowThrough, double: FlowThrough) -> str:
    """The set-up of the claims on precision, and what the better way of storing populations gives beside."""
    return (
        f"{THESIS_WALLS} walls; in single precision plain populations; with deviations k = {shifted.k:.2f}, "
        f"{loss(shifted, double):.4f} % lost, {shifted.result.steps} steps"
    )


def precision_text(double: FlowThrough, shifted: FlowThrough, plain: FlowThrough) -> str:
    """What single precision loses with deviations and with plain populations, and the steps to convergence."""
    return (
        f"Against double precision, single precision loses {loss(shifted, double):.4f} % when deviations are stored "
        f"and {loss(plain, double):.3f} % when plain populations are. The steps to convergence are "
        f"{double.result.steps}, {shifted.result.steps} and {plain.result.steps}."
    )


def image_text(space: PoreSpace, voxel_size: float) -> str:
    """Size, fluid nodes and specific surface of an image; `voxel_size` in metres."""
    surface = space.specific_surface / voxel_size
    return (
        f"{' x '.join(map(str, space.shape))} voxels of {voxel_size:g} m, {space.pores / 1e6:.2f} million fluid nodes, "
        f"specific surface {surface:.3g} per metre."
    )


def rock_text(table: pd.DataFrame, run: FlowThrough, axis: str, voxel_size: float) -> str:
    """The permeability of an image on its finest grid, and whether it can be trusted; `table` is from `rock_table`."""
    best = table.iloc[-1]
    square_metres, millidarcy = in_units(best["k"], voxel_size)
    change = f"; cutting each voxel changed k by {100 * best['change']:.1f} %" if len(table) > 1 else ""
    converged = table["converged"].all() and not run.doubts
    checked = "The flow is converged" if converged else f"**{run.doubts or 'On one grid the flow is not converged'}**"
    return (
        f"**k = {square_metres:.3g} m^2 = {millidarcy:,.4g} millidarcy** along {axis}{change}. {checked}; "
        f"Reynolds number {run.reynolds:.2g}, largest Mach number {run.result.mach:.2g}, densities up to "
        f"{run.result.density_spread:.2g} apart."
    )


def baselines_note(cpu: pd.Series) -> str:
    """Which CPU baseline a claim is judged with, and the MFLUPS of the others; `cpu` is MFLUPS by baseline."""
    node, cores = cpu["node by node"], cpu["rows, all cores"]
    return f"rows on one core; node by node {node:.2f}, all cores {cores:.1f} MFLUPS"


def baselines_text(cpu: pd.Series, space: PoreSpace) -> str:
    """The sparse list against the flag word on one core; `cpu` is MFLUPS by baseline."""
    gain = cpu["node by node"] / cpu["flag word, node by node"]
    return (
        f"On one core, node by node, the sparse list is {gain:.2f} times as fast as the flag word, at porosity "
        f"{space.porosity:.2f}."
    )


def baseline(cpu: pd.Series) -> str:
    """What a speedup is judged against; `cpu` is MFLUPS by baseline."""
    return f"sparse list in rows, one core: {cpu['rows']:.3g} MFLUPS"


def speedup_note(mflups: float, cpu: pd.Series) -> str:
    """What a speedup is given against, and what it is against the other CPU baselines."""
    node, cores = mflups / cpu["node by node"], mflups / cpu["rows, all cores"]
    return f"against rows on one core; node by node {node:.0f}, all cores {cores:.1f}"


def mapping_text(space: PoreSpace, seconds: float, device) -> str:
    """How long numbering and connecting the fluid nodes took; introduces the table of memory."""
    return (
        f"{space.pores / 1e6:.2f} million fluid nodes are mapped in {seconds:.3f} s on {device.description}. "
        "Bytes a node:"
    )


def in_place_text(packed: pd.DataFrame, memory: pd.DataFrame, space: PoreSpace) -> str:
    """Speed in place over the speed with two arrays in each medium, and the bytes that a fluid node takes."""
    speeds = packed.pivot_table(index="medium", columns="strategy", values="mflups")
    gain = speeds["sparse in place"] / speeds["sparse"]
    gains = ", ".join(f"{medium} {value:.2f}" for medium, value in gain.items())
    kept = memory.set_index(["strategy", "precision"])["bytes"] / space.porosity
    return (
        f"Sparse in place against sparse: {gains}. A fluid node of the first packing takes "
        f"{kept['sparse in place', 'single']:.0f} bytes in place and {kept['sparse', 'single']:.0f} in `sparse`, in "
        "single precision."
    )
