"""The sentences with numbers of the notebooks on porous media, as Markdown."""

import numpy as np
import pandas as pd

from repro.lbm.media import PoreSpace
from repro.lbm.porous.permeability import FlowThrough, in_units

from .permeability import CHI_CLAIMS, PAPER_NODES, THESIS_WALLS, VISCOSITY_CHI, VISCOSITY_TAUS
from .precision import beside, loss
from .variants import PAPER, TAUS, different, nodes_for

#: the magic number of the rates of Pan, Luo and Miller, which the thesis cites
MAGIC_OF_MRT = 3 / 16

#: differences of k that single precision does not show
ROUNDING = 1e-6


def cell_length_text(lengths: pd.DataFrame, drawn: pd.DataFrame) -> str:
    """Which cell and which equation the paper's analytical curve was drawn with, from its lowest point, chi = 0.6."""
    paper = float(drawn.loc[drawn["x"].idxmax(), "y"])
    length, formula = lengths.set_index("L").sub(paper).abs().stack().idxmin()
    return f"The paper draws {paper:.2f} at chi = 0.6: that is the {formula} with L = {length}, on a grid of 128 nodes."


def crystal_text(table: pd.DataFrame, summary: pd.DataFrame, nodes: int) -> str:
    """How far k lies from the series where that can be trusted, and how much it changes with the viscosity."""
    trusted = table.query("collision == 'mrt' and walls == 'half-way' and tau == 1.0 and chi <= 0.85")
    chis = ", ".join(f"{chi:g}" for chi in sorted(set(trusted["chi"])))
    off = ", ".join(f"{value:.2f}" for value in trusted.drop_duplicates("chi").sort_values("chi")["deviation (%)"])
    changes = "; ".join(
        f"{collision.upper()} with {walls} walls {spread:.3f} %"
        for (collision, walls), spread in summary["spread (%)"].items()
    )
    spread, taus = summary["spread (%)"], f"from {VISCOSITY_TAUS[0]:g} to {VISCOSITY_TAUS[-1]:g}"
    left = spread["mrt", THESIS_WALLS] / spread["bgk", THESIS_WALLS]
    return (
        f"With two rates and half-way walls k deviates from the series by {off} % at chi = {chis} on {nodes} voxels; "
        "the series takes the nominal chi here, and the voxels' porosity in the figures. "
        f"At chi = {VISCOSITY_CHI:g}, for relaxation times {taus}, k changes by: {changes}. With the walls that the "
        f"paper names two rates leave {100 * left:.0f} % of the change of BGK. "
        f"The largest Reynolds number was {table['reynolds'].max():.2g}."
    )


def crystal_notes(table: pd.DataFrame, summary: pd.DataFrame) -> dict[str, str]:
    """{claim: note} of the claims on crystals, from a `crystal_table` and its `viscosity_summary`."""
    notes = {"porous-115": rise_note(summary, "bgk"), "porous-116": rise_note(summary, "mrt")}
    beside = table.query("collision == 'mrt' and walls == 'half-way' and tau == 1.0").drop_duplicates("chi")
    k = beside.set_index("chi").eval(f"k * ({PAPER_NODES} / nodes) ** 2")
    for claim, chi in CHI_CLAIMS.items():
        half_way = f"; half-way walls, tau = 1: {k[chi]:.2f}" if chi in k.index else ""
        notes[claim] = f"{THESIS_WALLS} walls, two rates{half_way}"
    return notes


def rise_note(summary: pd.DataFrame, collision: str) -> str:
    """By how much k rises from tau = 0.8 to 1 with each wall that ran, from `permeability.viscosity_summary`."""
    rises = summary["rise (%)"].xs(collision, level="collision")
    return ", ".join(f"{walls} walls {abs(rise):.3f} %" for walls, rise in rises.items())


def paper_changes_text(paper: pd.DataFrame) -> str:
    """What the paper's own points say of the viscosity, from `variants.paper_changes`."""
    said = ", ".join(f"{row['change with BGK (%)']:+.1f} ({row['chi']:g})" for _, row in paper.iterrows())
    signs = int((np.diff(np.sign(paper["change with BGK (%)"])) != 0).sum())
    apart, reading = paper["BGK over MRT at 0.8 (%)"].abs(), paper["reading (%)"]
    same = paper[(apart < reading) & (paper["change with BGK (%)"] > 5)].iloc[0]
    # Lambda = (tau - 1/2)^2 of BGK at both ends
    first, last = ((tau - 0.5) ** 2 for tau in TAUS)
    way = (MAGIC_OF_MRT - first) / (last - first)
    return (
        f"Per cent by which the paper's k changes with BGK, by chi: {said}. The sign turns {signs} times, where a wall "
        "that moves with the viscosity changes k in one direction, in narrow pores by the larger share. And "
        rf"$\Lambda$ of BGK grows from {first:.2f} to {last:.2f} and passes the {MAGIC_OF_MRT:g} of MRT after "
        f"{100 * way:.0f} % of the way: if k is linear in it, with the change at chi = {same['chi']:g} BGK would begin "
        f"about {way * same['change with BGK (%)']:.1f} % below MRT. The paper's two begin "
        f"{apart[same.name]:.2f} % apart there, and {apart.max():.2f} % at chi = {paper.loc[apart.idxmax(), 'chi']:g}."
    )


def changes_text(found: pd.DataFrame) -> str:
    """Which of the runs comes near the paper's changes, and what grid would, from `variants.changes`."""
    theirs, ours = found.loc[PAPER], found.drop(PAPER)
    missed = (ours - theirs).abs().max(axis=1)
    near, chi = missed.idxmin(), VISCOSITY_CHI
    chis = ", ".join(f"{value:g}" for value in theirs.index)
    verdict = "reproduces it" if missed[near] < 1 else "comes near it at all chi"
    text = (
        f"At chi = {chis}: {'one variant' if missed[near] < 1 else 'no variant'} {verdict}; the nearest, {near}, is "
        f"off by up to {missed[near]:.1f} points."
    )
    alike = [name for name in ours.index if name not in different(found).index]
    if alike:
        text += f" These change as much as with nothing changed, within a tenth: {'; '.join(alike)}."
    wanted = nodes_for(found, theirs[chi], chi) if chi in theirs else np.nan
    if np.isnan(wanted):
        return text
    return text + (
        f" The grid counts, too: by a power law through both grids a change of {theirs[chi]:.1f} % at chi = {chi:g} "
        f"takes a cell of about {wanted:.0f} nodes, where the thesis has {PAPER_NODES}."
    )


def loss_note(shifted: FlowThrough, double: FlowThrough) -> str:
    """The set-up of the claims on precision, and what the better way of storing populations gives beside."""
    return (
        f"{THESIS_WALLS} walls; in single precision plain populations; with deviations k = {shifted.k:.2f}, "
        f"k/k_double - 1 = {-loss(shifted, double):+.2g} %, {shifted.result.steps} steps"
    )


def precision_text(
    double: FlowThrough,
    shifted: FlowThrough,
    plain: FlowThrough,
    published: pd.DataFrame,
    scale: float,
    stated: float,
    elsewhere: float,
) -> str:
    """What single precision changes with deviations and with plain populations, at first and at last.

    The runs have the walls that the paper names. `published` are the points of figure 5.9, at steps that are `scale`
    times ours, `stated` is the k that the paper states in double precision, and `elsewhere` that of this crystal in
    figure 5.8.
    """
    curves = {name: rows.set_index("x")["y"] for name, rows in published.groupby("series")}
    theirs = 100 * beside(curves["single"], curves["double"])
    late = theirs.iloc[-1]
    steps = ", ".join(str(run.result.steps) for run in (double, shifted, plain))
    ours = max(abs(loss(run, double)) for run in (shifted, plain))
    found = beside(*(pd.Series(dict(run.result.history)) for run in (plain, double)))
    first = max(theirs.index[0], scale * found.index[0])
    at_first = [
        100 * np.interp(first, steps, values)
        for steps, values in ((theirs.index, theirs / 100), (scale * found.index, found))
    ]
    return (
        f"k/k_double - 1 is {-loss(shifted, double):+.2g} % when deviations are stored and "
        f"{-loss(plain, double):+.2g} % when plain populations are; the steps to convergence in double precision and "
        f"in these two are {steps}. At step {first:,.0f} (of a cell of 128 nodes) it is {at_first[0]:+.2f} % in the "
        f"paper and {at_first[1]:+.2g} % here with plain populations; at the end it is {late:+.2f} % in the paper, "
        f"in size {abs(late) / ours:.0f} times the larger of ours with these walls. A slower flow would differ more, "
        "and the paper gives no number for its force. But its figure 5.8, in single precision as well, has "
        f"{elsewhere:.2f} for this crystal at $\\tau = 1$ (and repeats it at 1.2), "
        f"{100 * (elsewhere / stated - 1):+.2f} % from the {stated:.2f} that it states in double precision: "
        "**the paper's two figures contradict each other**."
    )


def image_text(space: PoreSpace, voxel_size: float) -> str:
    """Size, fluid nodes and specific surface of an image; `voxel_size` in metres."""
    surface = space.specific_surface / voxel_size
    return (
        f"{' x '.join(map(str, space.shape))} voxels of {voxel_size:g} m, {space.pores:,} fluid nodes, "
        f"specific surface {surface:.3g} per metre."
    )


def rock_text(table: pd.DataFrame, run: FlowThrough, axis: str, voxel_size: float) -> str:
    """The permeability of an image on its finest grid, and whether it can be trusted; `table` is from `rock_table`."""
    best = table.iloc[-1]
    square_metres, millidarcy = in_units(best["k"], voxel_size)
    change = f"; the last refinement changed k by {100 * best['change']:.1f} %" if len(table) > 1 else ""
    converged = table["converged"].all() and not run.doubts
    checked = "The flow is converged" if converged else f"**{run.doubts or 'On one grid the flow is not converged'}**"
    return (
        f"**k = {square_metres:.3g} m^2 = {_whole(millidarcy)} millidarcy** along {axis}{change}. {checked}. On the "
        f"image's own voxels the Reynolds number is {run.reynolds:.2g}, the largest Mach number {run.result.mach:.2g}, "
        f"and the densities are up to {run.result.density_spread:.2g} apart."
    )


def rock_headline(table: pd.DataFrame, axis: str, voxel_size: float) -> str:
    """The permeability in one line, from `rock_table`."""
    square_metres, millidarcy = in_units(table.iloc[-1]["k"], voxel_size)
    return f"k = {_whole(millidarcy)} millidarcy = {square_metres:.3g} m^2 along {axis}"


def _whole(value: float) -> str:
    """Four significant digits without a power of ten, such as 13,880."""
    return f"{float(f'{value:.4g}'):,.15g}"


def reversal_text(table: pd.DataFrame) -> str:
    """Whether k is the same in both directions, and with what the difference goes, from `permeability.reversal`."""
    whole, quarter = table["k back/k - 1"]
    text = (
        f"Driven the other way, k differs by {100 * whole:+.2g} %, in a flow whose densities lie "
        f"{table['density spread'].iloc[0]:.2g} apart"
    )
    if min(abs(whole), abs(quarter)) < ROUNDING:
        return text + "; with the smaller force what is left is rounding."
    law = "as what is of the first order in the force" if 3 < whole / quarter < 5 else "not by the 4 of a first order"
    return text + (
        f"; a quarter of the force divides that by {whole / quarter:.2f}, {law}. It is the compressibility of the "
        "lattice's fluid: inertia would count by the square of the Reynolds number."
    )
