"""Layers of two fluids between plates (figure 6.4): profiles against the exact solutions, refinement, viscosities."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from repro.errors import DivergenceError
from repro.lbm import plain
from repro.lbm.lattice import D3Q19
from repro.lbm.two_fluids.cases import Layers
from repro.lbm.two_fluids.exact import layered_velocity, layered_velocity_as_printed

#: half of the paper's gap, half the thickness of the inner layer in its plotted curve, in nodes, and its force
PAPER_HALF, PAPER_INNER, PAPER_FORCE = 128.0, 63.5, 1e-6

CLAIMS = ("porous-076", "porous-077", "porous-160")

#: relative change of the velocity in the middle over the last tenth of the steps below which a flow is steady
SETTLED = 1e-3


@dataclass(frozen=True)
class LayeredFlow:
    """A steady flow of layers, in lattice units; velocities along the plates."""

    case: Layers
    steps: int
    #: from the middle, in nodes
    y: np.ndarray
    velocity: np.ndarray
    #: half the thickness of the inner layer, from the masses of both fluids
    inner: float
    #: relative change of the velocity in the middle over the last tenth of the steps
    change: float
    #: least density of the mixture between the plates, which it has at the interfaces, over that of the fluids
    thinnest: float

    def exact(self, solution=layered_velocity, inner: float | None = None) -> np.ndarray:
        """The exact velocity at the nodes, with the interface where it was found or at `inner`."""
        viscosities, half = self.case.problem.viscosities, self.case.nodes / 2
        return solution(self.y, self.inner if inner is None else inner, half, self.case.accelerations, viscosities)

    def deviation(self, solution=layered_velocity) -> float:
        """Largest difference from the exact velocity over the largest exact velocity."""
        exact = self.exact(solution)
        return float(np.abs(self.velocity - exact).max() / np.abs(exact).max())


def run(case: Layers, device, *, times: float, precision: str) -> LayeredFlow:
    """Run for `times` viscous times L^2/nu of the inner fluid, L half the gap. DivergenceError as TwoFluidFlow."""
    steps = max(10, int(times * (case.nodes / 2) ** 2 / case.problem.viscosities[0]))
    flow = case.start(device, precision=precision)
    flow.step(steps * 9 // 10)
    before = _velocity(flow)
    flow.step(steps - flow.steps)
    velocity, middle = _velocity(flow), case.nodes // 2
    a, b = (field.squeeze()[1:-1] for field in flow.fields()[:2])
    difference = a - b
    # of both masses, see `observables.BubbleState`; the median leaves out the layer at the plates
    outside = np.median(difference[: case.nodes // 8])
    inner = (difference - outside)[case.nodes // 16 : -case.nodes // 16].sum() / (difference[middle] - outside) / 2
    change = abs(velocity[middle] / before[middle] - 1)
    total = (a + b)[case.nodes // 16 : -case.nodes // 16]
    thinnest = float(total.min() / np.median(total))
    return LayeredFlow(case, steps, case.positions, velocity, float(inner), float(change), thinnest)


def _velocity(flow) -> np.ndarray:
    return flow.fields()[2][1].squeeze()[1:-1]


def against_plain(device, *, nodes: int = 16, steps: int = 100) -> dict:
    """How far `plain.two_fluid_step` and the solver are apart after steps of one case, for `Record.say`.

    The largest difference of densities and velocities, in lattice units; holds if it is rounding.
    """
    mild = {"interaction": 0.2, "wetting": 0.05, "relaxation_times": (1.0, 2.0)}
    case = Layers(nodes=nodes, accelerations=(1e-4, 0.0), collision="bgk", **mild)
    problem, flow = case.problem, case.start(device, precision="double")
    solid, forces = problem.space.solid, (problem.interaction, problem.wetting, problem.accelerations)
    *densities, velocity = flow.fields()
    # populations at rest, for which half of the force is not counted
    f = np.array([plain.equilibrium(D3Q19, rho, np.zeros_like(velocity)) for rho in densities])
    flow.step(steps)
    for _ in range(steps):
        f = plain.two_fluid_step(D3Q19, f, solid, problem.relaxation_times, forces)
    *densities, velocity = flow.fields()
    rho, _, u = plain.mixture(D3Q19, f, solid, forces, (1, 1))
    off = max(float(np.abs(apart[:, ~solid]).max()) for apart in (rho - np.array(densities), u - velocity))
    return {"steps": steps, "nodes": nodes, "off": off, "holds": off < 1e-12}


def row_of(flow: LayeredFlow) -> dict:
    """Columns of the tables of layered flows; deviations in % of the largest velocity."""
    case, (inside, outside) = flow.case, flow.case.problem.viscosities
    row = {"nodes": case.nodes, "collision": case.collision, "viscosity ratio": outside / inside}
    row |= dict(zip(("force inside", "force outside"), case.accelerations, strict=True))
    row |= {"inner": flow.inner, "u max": float(flow.velocity.max()), "exact u max": float(flow.exact().max())}
    row["deviation (%)"] = 100 * flow.deviation()
    row["from equation 6.2 (%)"] = 100 * flow.deviation(layered_velocity_as_printed)
    return row | {"change": flow.change, "least density": flow.thinnest}


def table(flows) -> pd.DataFrame:
    """One row a flow, see `row_of`."""
    return pd.DataFrame([row_of(flow) for flow in flows])


def refined(case: Layers, grids, device, **options) -> list[LayeredFlow]:
    """The case on several grids, at the same velocity: force times gap squared is kept."""
    forces = {n: tuple(a * (case.nodes / n) ** 2 for a in case.accelerations) for n in grids}
    return [run(replace(case, nodes=n, accelerations=force), device, **options) for n, force in forces.items()]


def over_viscosity(cases, ratios, device, **options) -> pd.DataFrame:
    """The `row_of` each case at each ratio of the viscosities, outside over inside, or "diverged" as its outcome."""
    rows = []
    for case, ratio in product(cases, ratios):
        try:
            flow = run(replace(case, relaxation_times=_times(case, ratio)), device, **options)
            rows.append(row_of(flow) | {"outcome": "steady"})
        except DivergenceError:
            rows.append({"viscosity ratio": ratio, "collision": case.collision, "outcome": "diverged"})
    return pd.DataFrame(rows)


def _times(case: Layers, ratio: float) -> tuple[float, float]:
    """The relaxation times for a ratio of the viscosities, outside over inside; the latter is kept."""
    inside = case.relaxation_times[0]
    return inside, 0.5 + ratio * (inside - 0.5)


def published_profiles(points: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The paper's curves of figure 6.4 by name: columns x (position, nodes) and y (velocity)."""
    return {name: rows.sort_values("x") for name, rows in points.groupby("series")}


def paper_difference(points: pd.DataFrame) -> pd.DataFrame:
    """The paper's numerical curve, with the column difference: from its exact one, over the largest of that."""
    curves = published_profiles(points)
    exact, found = curves["analytical"], curves["numerical"]
    difference = found["y"] - np.interp(found["x"], exact["x"], exact["y"])
    return found.assign(difference=difference / exact["y"].max())


def deviations(flow: LayeredFlow, points: pd.DataFrame) -> dict:
    """How far the flow and the paper's own curve are from the exact profile, in %; holds if ours is no farther."""
    ours, paper = flow.deviation(), float(paper_difference(points)["difference"].abs().max())
    return {"ours": 100 * ours, "paper": 100 * paper, "holds": ours <= paper}


def headline(flow: LayeredFlow, points: pd.DataFrame) -> str:
    """`deviations` in a line."""
    off, (inside, outside) = deviations(flow, points), flow.case.problem.viscosities
    kind = flow.case.collision.upper()
    ours = f"Layers of two fluids, viscosity ratio {outside / inside:.3g}: velocity up to {off['ours']:.1f} % off"
    return f"{ours} the exact one with {kind}; the paper's points up to {off['paper']:.1f} %"


def correction(flow: LayeredFlow) -> dict:
    """How far (%) a flow is from equation 6.2 corrected, and that from the printed one; holds if below half of it."""
    exact, ours = flow.exact(), flow.deviation()
    printed = float(np.abs(flow.exact(layered_velocity_as_printed) - exact).max() / exact.max())
    return {"ours": 100 * ours, "printed": 100 * printed, "holds": ours < printed / 2}


def orders(table: pd.DataFrame, collision: str) -> dict:
    """What each doubling of the nodes divides the deviation by; holds if always nearer to first order than second."""
    rows = table[table["collision"] == collision].sort_values("nodes")["deviation (%)"].to_numpy()
    gains = rows[:-1] / rows[1:]
    return {"least": gains.min(), "most": gains.max(), "holds": gains.min() > 1 and gains.max() < 2**1.5}


def largest_ratio(table: pd.DataFrame, collision: str) -> dict:
    """The largest viscosity ratio of `over_viscosity` that ran, its deviation in %; holds if a larger one diverged."""
    rows = table[table["collision"] == collision].sort_values("viscosity ratio")
    last = rows[rows["outcome"] == "steady"].iloc[-1]
    holds = bool(rows.iloc[-1]["outcome"] != "steady")
    return {"last": last["viscosity ratio"], "off": last["deviation (%)"], "holds": holds}


#: what figure 6.4 can have run, by name: the force on the wetting fluid over the other's, ratio of the viscosities
READINGS = {
    "as printed: F_w = F_n, ratio 10": (1.0, 10.0),
    "F_w = 0, ratio 10": (0.0, 10.0),
    "F_w = 0, ratio 6": (0.0, 6.0),
}

#: over half of the gap: where the outer layer is clear of the interface and the plate, and the inner of the interface
_OUTER, _INNER = (0.55, 0.95), 0.45


def readings(case: Layers, collisions, device, **options) -> dict[tuple[str, str], LayeredFlow]:
    """The case in each reading of READINGS with each collision, by (reading, collision)."""
    flows = {}
    for (name, (force, ratio)), kind in product(READINGS.items(), collisions):
        forces = (case.accelerations[0], force * case.accelerations[0])
        changed = replace(case, accelerations=forces, relaxation_times=_times(case, ratio), collision=kind)
        flows[name, kind] = run(changed, device, **options)
    return flows


def scaled(points: pd.DataFrame, nodes: int) -> pd.DataFrame:
    """The paper's points of figure 6.4 on another grid, where force times gap squared is kept: velocities are, too."""
    return points.assign(x=points["x"] * nodes / (2 * PAPER_HALF))


def farthest(flow: LayeredFlow, points: pd.DataFrame) -> float:
    """Largest distance of a flow from the paper's numerical points, in % of the largest velocity of its exact curve."""
    curves = published_profiles(points)
    theirs = curves["numerical"]
    distance = np.abs(np.interp(theirs["x"], flow.y, flow.velocity) - theirs["y"])
    return float(100 * distance.max() / curves["analytical"]["y"].max())


def shear(y, velocity, half: float) -> dict:
    """Of a profile between plates at -half and half: the slope of its outer layer, by how much that is bowed and the
    inner one's curvature.

    slope (per node) and bow, the largest distance from the line in % of the largest velocity, of a straight line fitted
    to the outer layer; curvature, c of u = u0 - c y^2 in the inner one.
    """
    y, velocity = np.abs(np.asarray(y, float)), np.asarray(velocity, float)
    outer, inner = (y > _OUTER[0] * half) & (y < _OUTER[1] * half), y < _INNER * half
    line, parabola = np.polyfit(half - y[outer], velocity[outer], 1), np.polyfit(y[inner] ** 2, velocity[inner], 1)
    bow = np.abs(np.polyval(line, half - y[outer]) - velocity[outer]).max() / velocity.max()
    return {"slope": float(line[0]), "bow (%)": float(100 * bow), "curvature": float(-parabola[0])}


def viscosities_by_shear(points: pd.DataFrame) -> dict:
    """Dynamic viscosities that the paper's numerical profile has if its force drives the inner fluid alone.

    inner by the curvature of the inner layer, outer by the slope of the outer one, whose shear carries the force on
    half of the inner layer. Holds if the outer layer is straight to a thousandth of the largest velocity.
    """
    found = shear(*(published_profiles(points)["numerical"][axis] for axis in "xy"), PAPER_HALF)
    inner, outer = PAPER_FORCE / (2 * found["curvature"]), PAPER_FORCE * PAPER_INNER / found["slope"]
    return {"inner": inner, "outer": outer, "holds": found["bow (%)"] < 0.1}


def readings_table(flows: dict, points: pd.DataFrame) -> pd.DataFrame:
    """The paper's row, then one a reading and collision: distance from the `scaled` points, u max and `shear`."""
    half = next(iter(flows.values())).case.nodes / 2
    theirs = published_profiles(points)["numerical"]
    rows = [("paper, figure 6.4", "", 0.0, theirs["y"].max(), *shear(theirs["x"], theirs["y"], half).values())]
    for (name, kind), flow in flows.items():
        found = shear(flow.y, flow.velocity, half).values()
        rows.append((name, kind, farthest(flow, points), flow.velocity.max(), *found))
    names = ["reading", "collision", "farthest (%)", "u max", "slope", "bow (%)", "curvature"]
    return pd.DataFrame(rows, columns=names)


def bows(table: pd.DataFrame) -> dict:
    """The largest bow (%) of our outer layers without a force, the least of those with one, in `readings_table`."""
    ours = table[table["collision"] != ""].set_index("reading")["bow (%)"]
    pulled = ours.index.str.startswith("as printed")
    free, bowed = float(ours[~pulled].max()), float(ours[pulled].min())
    return {"free": free, "pulled": bowed, "holds": free < bowed / 10}


def nearest(table: pd.DataFrame) -> dict:
    """How far (%) BGK without the force at the ratio 6 is from the paper's points; holds if none is nearer."""
    rows = table.set_index(["reading", "collision"])["farthest (%)"].iloc[1:]
    six = rows[list(READINGS)[-1], "bgk"]
    return {"six": float(six), "holds": bool(six == rows.min())}


def hand_over(record, flows: dict, points: pd.DataFrame) -> None:
    """Give the notebook's `record` what figure 6.4 claims: `readings` on the paper's grid by equation 2.16 (BGK)."""
    first, nodes = next(iter(READINGS)), next(iter(flows.values())).case.nodes
    if nodes != 2 * PAPER_HALF or (first, "bgk") not in flows:
        for claim in CLAIMS:
            record.not_measured(claim, f"{nodes} nodes between the plates; the paper has 256, and BGK")
        return
    printed, ten, six = (farthest(flows[name, "bgk"], points) for name in READINGS)
    note = f"F_w = 0: {ten:.1f} % at the printed ratio 10, {six:.1f} % at the ratio 6 of the slope"
    settled = all(flow.change < SETTLED for flow in flows.values())
    record.measure("porous-077", printed, converged=settled, note=note)
    others = (f"{kind}: {100 * flow.deviation():.1f} %" for (name, kind), flow in flows.items() if name == first)
    record.measure("porous-160", 100 * flows[first, "bgk"].deviation(), converged=settled, note=", ".join(others))
    exact = flows[first, "bgk"].exact(inner=PAPER_INNER).max()
    record.measure("porous-076", float(exact), note=f"equation 6.2 for the interface at {PAPER_INNER}")
