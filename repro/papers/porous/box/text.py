"""The sentences with numbers of the notebooks on the cavity and the duct, as Markdown."""

import numpy as np
import pandas as pd

from repro.lbm.exact import duct_velocity
from repro.lbm.model import SPEED_OF_SOUND

from .cavity import Flow
from .duct import DuctFlow
from .lids import WALL_TO_WALL


def run_text(flow: Flow, device, precision: str) -> str:
    """Where the cavity ran, on which grid, and how it became steady."""
    nodes = flow.case.nodes
    return (
        f"On {device.description}, {precision} precision, {nodes} x {nodes} nodes, relaxation time "
        f"{flow.case.problem.relaxation_time:.4f}: the run {flow.convergence}."
    )


def cavity_text(centres: pd.DataFrame, lines: pd.DataFrame, flow: Flow) -> str:
    """How far the centres lie from the converged ones, and the centre lines from Ghia's."""
    distance = centres["distance to converged"]
    known = (
        f"The largest distance of our centres from the converged ones is {distance.max():.4f} of the side, on a grid "
        f"of spacing {1 / flow.case.nodes:.4f}. "
    )
    unknown = f"No converged solution is at hand for Re {flow.case.reynolds:g}. "
    found = known if distance.notna().any() else unknown
    if lines["ratio"].isna().all():
        return found + "How accurate Ghia's tables are at these Reynolds numbers is not known."
    largest = lines["ratio"].max()
    ours = (
        "; where the ratio is above one, what it is above is the least that this run itself is off, by its grid, its "
        f"lid and its Mach number ({flow.case.lid_speed / SPEED_OF_SOUND:.2f})"
    )
    return (
        f"{found}Against Ghia the rms differences are {lines['ratio'].min():.2f} to {largest:.2f} times Ghia's own "
        f"error{ours if largest > 1 else ''}."
    )


def coordinates_text(table: pd.DataFrame, nodes: int) -> str:
    """Where the paper's vortex centres are furthest from the converged ones, in spacings of its grid of `nodes`.

    `table` is from `lids.coordinates_table`.
    """
    apart, ours = table["paper - converged"], table["ours - converged"].abs()
    worst, mean = table.loc[apart.abs().idxmax()], apart.mean()
    text = (
        f"The paper's coordinates are {apart.abs().min():.4f} to {apart.abs().max():.4f} from the converged ones, ours "
        f"{ours.min():.4f} to {ours.max():.4f}. Furthest is its {worst['coordinate']}: {worst['paper']:.4f} against "
        f"{worst['converged']:.4f} (ours {worst['ours']:.4f}), {nodes * apart.abs().max():.2f} spacings of its grid. "
        f"It is judged to half a spacing, {0.5 / nodes:.4f}, because it claims four digits."
    )
    if (apart > 0).all() or (apart < 0).all():
        axis = table["coordinate"].str[-1]
        along = [(name, some.abs()) for name, some in apart.groupby(axis)]
        ranges = ", ".join(f"along {name} by {some.min():.4f} to {some.max():.4f}" for name, some in along)
        text += (
            f" All {len(apart)} of the paper's lie on one side, by {abs(mean):.4f} on average ({nodes * abs(mean):.2f} "
            "spacings). Some of the distance may be where its coordinates begin, which it does not say; but that would "
            f"move all along an axis alike, and they are off {ranges}."
        )
    return text


def lids_text(table: pd.DataFrame) -> str:
    """The order of each lid from the coarsest grid to the finest, and the box that it makes; from `lids.lid_orders`."""
    said = []
    for name, grids in table.groupby("lid", sort=False):
        first, last = grids.iloc[0], grids.iloc[-1]
        order = np.log(first["rms"] / last["rms"]) / np.log(last["nodes"] / first["nodes"])
        said.append(
            f"{name}: {last['rms']:.2f} % on {last['nodes']} nodes, order {order:.2f} from {first['nodes']} nodes, "
            f"height over width {last['height/width']:.4f}"
        )
    return "Deviation (rms of the three extrema), order and box of each lid. " + "; ".join(said) + "."


def closeness_text(table: pd.DataFrame) -> str:
    """Whether the paper's table 4.1 tells which lid it had, from `lids.closeness`.

    It does if no other lid, in its best way to count, comes to within twice the rms of the best.
    """
    best = table.loc[table["rms"].idxmin()]
    other = table.loc[table[table["lid"] != best["lid"]]["rms"].idxmin()]
    coordinates = table[table["coordinates"] == WALL_TO_WALL].drop(columns=["lid", "coordinates", "rms"])
    moved = float((coordinates.max() - coordinates.min()).max())
    return (
        f"Closest to the paper's six coordinates: the lid *{best['lid']}*, counted *{best['coordinates']}*, rms "
        f"{best['rms']:.4f}; next the lid *{other['lid']}*, counted *{other['coordinates']}*, {other['rms']:.4f}. From "
        f"wall to wall lids move a coordinate by {moved:.4f} at most. "
        + (
            "So the table tells the lid."
            if other["rms"] > 2 * best["rms"]
            else "That is too little against what is left between the paper and any of them: its table cannot tell "
            "which lid it had, and does not speak against the one that it states."
        )
    )


def centre_velocity_text(flow: DuctFlow) -> str:
    """The error of the duct, and its velocity on the axis beside the series."""
    case = flow.case
    exact = float(duct_velocity(0, 0, case.side, case.force, case.problem.viscosity)) / case.u0
    return (
        f"Error {100 * flow.error:.3f} % on {case.nodes} nodes; at the centre {float(flow.profile(0.0)):.5f} against "
        f"{exact:.5f} (series)."
    )


def grid_text(simulated: pd.DataFrame, curve: pd.DataFrame) -> str:
    """The grid of the paper's run, from the points of figure 4.6: those of its run and of its analytical curve."""
    drawn, ran = (np.sort(points["x"].to_numpy(float)) for points in (curve, simulated))
    spacing, stride = (np.median(np.diff(points)) for points in (drawn, ran))
    nodes = round((drawn[-1] - drawn[0]) / spacing) + 1
    return (
        f"The paper's curve is drawn at {nodes} points from wall to wall, and its run at {len(ran)} of them, "
        f"{stride / spacing:.0f} apart: it had {nodes} nodes across, the outermost on the walls, as this wall has them."
    )


def error_text(errors: pd.DataFrame, stated: float) -> str:
    """Where the error has its least value, and at which relaxation times it is as small as the paper's, in per cent."""
    times, found = errors["relaxation time"], errors["error (%)"]
    least, below = found.idxmin(), times[found <= stated]
    where = ", ".join(f"{time:g}" for time in below) or "none of these relaxation times"
    return (
        f"The error runs from {found.min():.3f} % at relaxation time {times[least]:g} to {found.max():.3f} % at "
        f"{times[found.idxmax()]:g}, on one grid and with one wall; it is at most the paper's {stated:g} % for "
        f"{where}. Most of it is the wall's, which BGK moves with the relaxation time: a percentage without a "
        "relaxation time can be had at will, also by accident."
    )


def orders_text(table: pd.DataFrame) -> str:
    """The order of each wall scheme between the two finest grids."""
    finest = table[table["nodes"] == table["nodes"].max()].set_index("walls")["order"]
    orders = ", ".join(f"{name} {order:.2f}" for name, order in finest.items())
    return f"Between the two finest grids the orders are {orders}."
