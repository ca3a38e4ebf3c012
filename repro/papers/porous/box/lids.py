"""Which lid drives the cavity: how fast the flow of each one converges, and whose vortices the paper's table has."""

from itertools import product

import numpy as np
import pandas as pd

from repro.lbm.cases import Cavity
from repro.lbm.model import SPEED_OF_SOUND
from repro.papers.orders import with_orders

from .cavity import CENTRE_CLAIMS, Flow, centre_claims, changed, solve_cavity, vortex_centres, vortices_claim

#: schemes of the lid and of the three walls. Two rates, so that walls stay where they are at any relaxation time
LIDS = {
    "half-way": {"lid": "half-way", "walls": "half-way"},
    "extrapolated": {"lid": "extrapolation", "walls": "half-way"},
    "extrapolated, walls on nodes": {"lid": "extrapolation", "walls": "modified"},
}

#: the claim on how many vortices there are, and all of the notebook
VORTICES_CLAIM = "porous-110"
CLAIMS = (*CENTRE_CLAIMS, VORTICES_CLAIM)

EXTREMA = ["u_min", "v_max", "v_min"]

#: nodes a side of the paper's cavity
PAPER_NODES = 256


def extrema(flow: Flow) -> dict[str, float]:
    """Smallest u on the vertical, largest and smallest v on the horizontal centre line, over the lid's speed."""
    fine = np.linspace(0.01, 0.99, 20_001)
    u, v = (flow.centre_line(component, fine) for component in "uv")
    return dict(zip(EXTREMA, map(float, (u.min(), v.max(), v.min())), strict=True))


def height_over_width(case: Cavity) -> float:
    """Height of the box between its walls over its width: not one where one wall is on nodes and others are not."""
    x, y = case.positions
    return float(np.diff(x)[0] / np.diff(y)[0])


def lid_orders(reynolds: float, nodes, spectral: pd.DataFrame, device, *, lids=LIDS, lid_speed=0.1) -> pd.DataFrame:
    """Deviation of the extrema from those of a spectral solution, in per cent, for each lid on each grid.

    `spectral` has the columns Re, u_min, v_max, v_min; the order is that of the rms of the three. In double precision.
    `lid_speed` is that of the coarsest grid and falls with the spacing, so that the error of compressibility, which
    goes with its square, falls as fast as that of the grid, and neither hides the other.
    """
    exact = spectral.set_index("Re").loc[reynolds, EXTREMA]
    rows = []
    for name, count in product(lids, nodes):
        slowed = lid_speed * min(nodes) / count
        case = Cavity(reynolds=reynolds, nodes=count, lid_speed=slowed, collision="trt", **LIDS[name])
        flow = solve_cavity(case, device, precision="double")
        off = 100 * (pd.Series(extrema(flow)) / exact - 1)
        rms = float(np.sqrt(np.mean(off**2)))
        rows.append((name, count, height_over_width(case), flow.convergence.converged, *off, rms))
    table = pd.DataFrame(rows, columns=["lid", "nodes", "height/width", "converged", *EXTREMA, "rms"])
    return with_orders(table, "lid", "nodes", "rms")


WALL_TO_WALL = "wall to wall"

#: ways to count a coordinate along some nodes, from its value between the walls, 0 to 1, and its index, 0 at the first
ORIGINS = {
    WALL_TO_WALL: lambda value, index, nodes: value,
    "first node to last": lambda value, index, nodes: index / (nodes - 1),
    "first node is 0, over their number": lambda value, index, nodes: index / nodes,
    "first node is 1, over their number": lambda value, index, nodes: (index + 1) / nodes,
}


def counted(case: Cavity, axis: str, value: float, origin: str) -> float:
    """A coordinate between the walls, 0 to 1, as it reads when it is counted in one of `ORIGINS`."""
    first, second = case.positions["xy".index(axis)][:2]
    return float(ORIGINS[origin](value, (value - first) / (second - first), case.nodes))


def off_nodes(published: dict[str, float]) -> dict:
    """By how many spacings the paper's coordinates lie off the nearest node of its grid, at least, in any of `ORIGINS`.

    Holds if that is more than the last digit printed leaves open, so that none of them is a node.
    """
    case, index = Cavity(nodes=PAPER_NODES), np.arange(PAPER_NODES)
    found = []
    for (claim, value), count in product(published.items(), ORIGINS.values()):
        first, second = case.positions["xy".index(CENTRE_CLAIMS[claim][1])][:2]
        nodes = count(first + index * (second - first), index, PAPER_NODES)
        found.append(float(np.abs(nodes - value).min() * PAPER_NODES))
    return {"off": min(found), "holds": min(found) > 0.5e-4 * PAPER_NODES}


def record_claims(record, flow: Flow, centres: pd.DataFrame) -> None:
    """Give the notebook's `record` the number of vortices, and table 4.1 from `cavity.centre_table`.

    None on a grid that is coarser than the paper's.
    """
    if flow.case.nodes < PAPER_NODES:
        return
    found = {VORTICES_CLAIM: vortices_claim(flow)} | centre_evidence(flow.case, centre_claims(centres))
    for claim, evidence in found.items():
        record.measure(claim, **evidence, converged=flow.convergence.converged)


def centre_evidence(case: Cavity, claims: dict[str, float]) -> dict[str, dict]:
    """{claim: value and note for the notebook's record} of coordinates of table 4.1, given between the walls, 0 to 1.

    The thesis does not say where coordinates begin: the note has what each of `ORIGINS` makes of it.
    """
    found = {}
    for claim, value in claims.items():
        each = {name: counted(case, CENTRE_CLAIMS[claim][1], value, name) for name in ORIGINS}
        found[claim] = {"measured": value, "note": ", ".join(f"{name}: {at:.4f}" for name, at in each.items())}
    return found


def closeness(flow: Flow, published: dict[str, float], lids, device, *, precision: str) -> pd.DataFrame:
    """How far the vortex centres of each lid lie from the paper's six coordinates, in each way to count them.

    `published` has the paper's value of each claim on its own column of table 4.1. Columns lid, coordinates, one for
    each of the six (ours minus the paper's), and rms.
    """
    rows = []
    for name in lids:
        run = changed(flow, device, precision=precision, **LIDS[name])
        ours = centre_claims(vortex_centres(run).set_index("vortex"))
        for origin in ORIGINS:
            apart = {}
            for claim, (vortex, axis) in CENTRE_CLAIMS.items():
                if claim in ours and claim in published:
                    apart[f"{vortex} {axis}"] = counted(run.case, axis, ours[claim], origin) - published[claim]
            rms = float(np.sqrt(np.mean(np.square(list(apart.values())))))
            rows.append({"lid": name, "coordinates": origin} | apart | {"rms": rms})
    return pd.DataFrame(rows)


def over_lid_speed(flow: Flow, speeds, device, *, precision: str) -> pd.DataFrame:
    """The six coordinates of the vortices at each lid speed in lattice units, with its Mach number; one row a speed."""
    rows = []
    for speed in speeds:
        centres = vortex_centres(changed(flow, device, precision=precision, lid_speed=speed)).set_index("vortex")
        columns = {f"{vortex} {axis}": centres.loc[vortex, axis] for vortex in centres.index for axis in "xy"}
        rows.append({"lid speed": speed, "Mach": speed / SPEED_OF_SOUND} | columns)
    return pd.DataFrame(rows)


def moved_by_speed(table: pd.DataFrame) -> dict:
    """The most by which the speeds of `over_lid_speed` move a coordinate, also in spacings of the paper's grid."""
    coordinates = table.drop(columns=["lid speed", "Mach"])
    most = float((coordinates.max() - coordinates.min()).max())
    return {"most": most, "spacings": PAPER_NODES * most, "holds": PAPER_NODES * most < 0.5}


def extrema_off(flows: dict[float, Flow], spectral: pd.DataFrame) -> pd.DataFrame:
    """Deviation of the extrema of the flows, by Reynolds number, from the spectral ones, where there are, per cent."""
    exact = spectral.set_index("Re")[EXTREMA]
    known, rows = [reynolds for reynolds in flows if reynolds in exact.index], []
    for reynolds in known:
        off = 100 * (pd.Series(extrema(flows[reynolds])) / exact.loc[reynolds] - 1)
        rows.append((reynolds, flows[reynolds].case.nodes, flows[reynolds].case.lid, *off))
    return pd.DataFrame(rows, columns=["Re", "nodes", "lid", *EXTREMA])


def coordinates_table(centres: pd.DataFrame, published: dict[str, float]) -> pd.DataFrame:
    """The paper's coordinates of table 4.1 and ours of `cavity.centre_table`, each beside the converged one."""
    rows = []
    for claim, paper in published.items():
        vortex, axis = CENTRE_CLAIMS[claim]
        if vortex in centres.index:
            ours, converged = centres.loc[vortex, axis], centres.loc[vortex, f"{axis} converged"]
            rows.append((f"{vortex} {axis}", paper, ours, converged, paper - converged, ours - converged))
    names = ["coordinate", "paper", "ours", "converged", "paper - converged", "ours - converged"]
    return pd.DataFrame(rows, columns=names)


def misses(table: pd.DataFrame) -> dict:
    """The paper's largest miss in `coordinates_table`; holds if all are to one side, and ours are nearer."""
    apart, ours = table["paper - converged"], float(table["ours - converged"].abs().max())
    paper = float(apart.abs().max())
    one_side = bool((apart > 0).all() or (apart < 0).all())
    return {"paper": paper, "spacings": PAPER_NODES * paper, "holds": one_side and ours < paper}


def overall_orders(table: pd.DataFrame) -> dict:
    """Order from the coarsest grid of `lid_orders` to the finest: of the half-way lid, and the largest other."""
    grids = table.sort_values("nodes").groupby("lid")[["rms", "nodes"]]
    first, last = grids.first(), grids.last()
    order = (np.log(first["rms"] / last["rms"]) / np.log(last["nodes"] / first["nodes"])).fillna(0.0)
    half_way, other = float(order.pop("half-way")), float(order.max())
    return {"half_way": half_way, "other": other, "holds": half_way > other}


def indistinct(table: pd.DataFrame) -> dict:
    """Least rms of `closeness`, that of the best other lid, how far lids move a vortex; holds up to twice the least."""
    best = table.loc[table["rms"].idxmin()]
    other = table.loc[table["lid"] != best["lid"], "rms"].min()
    between_walls = table[table["coordinates"] == WALL_TO_WALL].drop(columns=["lid", "coordinates", "rms"])
    moved = float((between_walls.max() - between_walls.min()).max())
    return {"best": best["rms"], "other": other, "moved": moved, "holds": other <= 2 * best["rms"]}
