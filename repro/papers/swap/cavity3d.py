"""What is measured in the cubic lid-driven cavity: the flow in its middle planes and on its centre lines."""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline

from repro.lbm.cases import CubicCavity
from repro.lbm.simulation import Convergence, Simulation
from repro.papers.orders import observed_order

COMPONENTS = {"u": 0, "v": 1}


@dataclass(frozen=True)
class CubicFlow:
    """The steady velocity over the lid speed at the interior nodes, shape (3, z, y, x)."""

    case: CubicCavity
    convergence: Convergence
    velocity: np.ndarray
    #: over all nodes at the end, 1 at the start: nothing corrects it on the way
    mean_density: float = 1.0

    @property
    def positions(self) -> np.ndarray:
        """Interior nodes along each axis, the walls at 0 and 1."""
        return (np.arange(self.case.width) + 0.5) / self.case.width

    def plane(self, axis: str) -> np.ndarray:
        """The velocity, shape (3, ., .), in the middle plane across `axis`."""
        return _middle(self.velocity, {"x": 3, "y": 2, "z": 1}[axis])

    def centre_line(self, component: str, positions) -> np.ndarray:
        """u along y at x = z = 1/2, or v along x at y = z = 1/2, by a cubic spline through the nodes and the walls."""
        middle = self.plane("z")[COMPONENTS[component]]
        line = _middle(middle, 1) if component == "u" else _middle(middle, 0)
        nodes = np.concatenate([[0.0], self.positions, [1.0]])
        spline = CubicSpline(nodes, np.concatenate([[0.0], line, [float(component == "u")]]))
        return spline(np.asarray(positions, float))


def _middle(field: np.ndarray, axis: int) -> np.ndarray:
    """The field half-way along an axis: at the middle node, or by a cubic through the four nodes around the middle."""
    count = field.shape[axis]
    if count % 2:
        return field.take(count // 2, axis)
    near = [field.take(count // 2 + k, axis) for k in (-2, -1, 0, 1)]
    return (9 * (near[1] + near[2]) - near[0] - near[3]) / 16


def solve_cubic_cavity(case: CubicCavity, device, *, precision="single", strategy="swap links", **end) -> CubicFlow:
    """Run a cavity until its velocity changes by less than 1e-6 in 1000 steps, or to another `end`: its flow."""
    simulation = Simulation(case.problem, device, precision=precision, strategy=strategy)
    convergence = simulation.run_to_steady_state(**end)
    velocity = simulation.fields()[1][:, 1:-1, 1:-1, 1:-1] / case.lid_speed
    return CubicFlow(case, convergence, velocity, simulation.mean_density())


def between_grids(flows: list[CubicFlow]) -> pd.DataFrame:
    """Root mean square distance of each flow's centre lines from those of the next finer grid, and the order.

    An order is `observed_order` on three grids in a row, and not a number for the first two.
    """
    at, rows = np.linspace(0, 1, 101), []
    for coarse, fine in itertools.pairwise(flows):
        apart = [coarse.centre_line(name, at) - fine.centre_line(name, at) for name in COMPONENTS]
        rms = (np.sqrt(np.mean(d**2)) for d in apart)
        rows.append((coarse.case.reynolds, coarse.case.nodes, fine.case.nodes, *rms))
    frame = pd.DataFrame(rows, columns=["reynolds", "nodes", "finer", "u", "v"])
    for name in "uv":
        frame[f"order {name}"] = np.nan
        for k in range(1, len(frame)):
            widths = [flow.case.width for flow in flows[k - 1 : k + 2]]
            frame.loc[k, f"order {name}"] = observed_order(widths, frame[name][k - 1] / frame[name][k])
    return frame


def solve_grids(reynolds: float, grids, device, *, lid_speed: float, **options) -> list[CubicFlow]:
    """The cavity of one Reynolds number on each grid, given by nodes a side; options as in `solve_cubic_cavity`."""
    cases = [CubicCavity(reynolds=reynolds, nodes=nodes, lid_speed=lid_speed) for nodes in grids]
    return [solve_cubic_cavity(case, device, **options) for case in cases]


def runs_table(flows: list[CubicFlow]) -> pd.DataFrame:
    """What was run and how it became steady, one row a flow; the mean density is 1 at the start, and not corrected."""
    columns = ["Re", "nodes a side", "relaxation time", "steps", "converged", "mean density - 1"]
    rows = []
    for flow in flows:
        case, run = flow.case, flow.convergence
        about = case.reynolds, case.nodes, case.problem.relaxation_time
        rows.append((*about, run.steps, run.converged, flow.mean_density - 1))
    return pd.DataFrame(rows, columns=columns)


def floor_table(case: CubicCavity, device, strategy: str, *, times: int = 150) -> pd.DataFrame:
    """How far the change of the velocity over 1000 steps falls in either precision, if nothing stops the run.

    Runs last `times` the time in which the lid moves its own width; the change at the end is the median of ten.
    """
    rows, limit = [], int(times * case.width / case.lid_speed)
    for precision in ("single", "double"):
        simulation = Simulation(case.problem, device, precision=precision, strategy=strategy)
        history = simulation.run_to_steady_state(tolerance=1e-300, limit=limit).history
        reached = min((steps for steps, change in history if change <= 1e-6), default=np.nan)
        rows.append((precision, reached, np.median([change for _, change in history[-10:]])))
    return pd.DataFrame(rows, columns=["precision", "steps to 1e-6", "change at the end"])


def reference_table(flows: list[CubicFlow], table: pd.DataFrame) -> pd.DataFrame:
    """Distance of each grid's centre lines from published points, rms and largest, over the lid's speed."""
    rows = []
    for flow in flows:
        ours = [float(flow.centre_line(row.component, row.position)) for row in table.itertuples()]
        apart = np.abs(ours - table["velocity"])
        rows.append((flow.case.nodes, np.sqrt(np.mean(apart**2)), apart.max()))
    return pd.DataFrame(rows, columns=["nodes a side", "rms", "largest"])


def headline(flows: dict[float, list[CubicFlow]], table: pd.DataFrame) -> str:
    """How far the finest grid is from the published points at Re = 1000, or without that from the grid before it."""
    reynolds = 1000 if 1000 in flows else max(flows)
    *_, before, finest = [flows[reynolds][0], *flows[reynolds]]
    about = f"Cubic cavity at Re = {reynolds:g}, {finest.case.nodes} nodes a side: velocity on the centre lines"
    if reynolds == 1000:
        rms, other = reference_table([finest], table)["rms"].iloc[0], "Albensoeder and Kuhlmann's"
    else:
        apart = between_grids([before, finest]).iloc[0]
        rms, other = np.hypot(apart["u"], apart["v"]) / 2**0.5, f"that on {before.case.nodes} nodes"
    return f"{about} {100 * rms:.2f} % of the lid's speed from {other} (rms)"


def power_of_spacing(table: pd.DataFrame) -> float:
    """The power of the spacing with which the rms of `reference_table` falls from its first grid to its last."""
    ends = table.iloc[[0, -1]]
    falls, finer = -np.diff(np.log(ends["rms"])), np.diff(np.log(ends["nodes a side"] - 2))
    return float((falls / finer).item())
