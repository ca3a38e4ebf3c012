"""What is measured in the cubic lid-driven cavity: the flow in its middle planes and on its centre lines."""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from repro.lbm.cases import CubicCavity
from repro.lbm.simulation import Convergence, Simulation

COMPONENTS = {"u": 0, "v": 1}


@dataclass(frozen=True)
class CubicFlow:
    """The steady velocity over the lid speed at the interior nodes, shape (3, z, y, x)."""

    case: CubicCavity
    convergence: Convergence
    velocity: np.ndarray

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
        return CubicSpline(nodes, np.concatenate([[0.0], line, [float(component == "u")]]))(
            np.asarray(positions, float)
        )


def _middle(field: np.ndarray, axis: int) -> np.ndarray:
    """The field half-way along an axis: at the middle node, or by a cubic through the four nodes around the middle."""
    count = field.shape[axis]
    if count % 2:
        return field.take(count // 2, axis)
    near = [field.take(count // 2 + k, axis) for k in (-2, -1, 0, 1)]
    return (9 * (near[1] + near[2]) - near[0] - near[3]) / 16


def solve_cubic_cavity(
    case: CubicCavity, device, *, precision="single", strategy="swap links", limit=2_000_000
) -> CubicFlow:
    """Run a cavity until its velocity changes by less than 1e-6 in 1000 steps, and return its flow."""
    simulation = Simulation(case.problem, device, precision=precision, strategy=strategy)
    convergence = simulation.run_to_steady_state(limit=limit)
    return CubicFlow(case, convergence, simulation.fields()[1][:, 1:-1, 1:-1, 1:-1] / case.lid_speed)


def compare(flow: CubicFlow, table: pd.DataFrame) -> pd.DataFrame:
    """Published points (component, position, velocity) beside ours, in the column `ours`."""
    found = [float(flow.centre_line(row.component, row.position)) for row in table.itertuples()]
    return table.assign(ours=found)


def rms(frame: pd.DataFrame) -> float:
    """Root mean square of ours minus theirs."""
    return float(np.sqrt(np.mean((frame["ours"] - frame["velocity"]) ** 2)))


def between_grids(flows: list[CubicFlow], points: int = 101) -> pd.DataFrame:
    """Root mean square distance of each flow's centre lines from those of the next finer grid, and the order.

    Columns reynolds, nodes, finer, u, v, order u, order v; an order is `observed_order` on three grids in a row.
    """
    at, rows = np.linspace(0, 1, points), []
    for coarse, fine in itertools.pairwise(flows):
        apart = [coarse.centre_line(name, at) - fine.centre_line(name, at) for name in COMPONENTS]
        rows.append(
            (coarse.case.reynolds, coarse.case.nodes, fine.case.nodes, *(np.sqrt(np.mean(d**2)) for d in apart))
        )
    frame = pd.DataFrame(rows, columns=["reynolds", "nodes", "finer", "u", "v"])
    for name in "uv":
        frame[f"order {name}"] = np.nan
        for k in range(1, len(frame)):
            widths = [flow.case.width for flow in flows[k - 1 : k + 2]]
            frame.loc[k, f"order {name}"] = observed_order(widths, frame[name][k - 1] / frame[name][k])
    return frame


def observed_order(widths, ratio: float) -> float:
    """The order p at which the distances between three grids have this ratio, NaN if none has.

    With an error C h^p and h = 1/width the distance of two grids is C (h_1^p - h_2^p); the grids need not be refined
    by the same factor (Roache, Annu. Rev. Fluid Mech. 29 (1997) 123).
    """
    coarse, middle, fine = (1 / np.asarray(widths, float)).tolist()

    def off(p):
        return (coarse**p - middle**p) / (middle**p - fine**p) - ratio

    least, most = 0.01, 10.0
    return brentq(off, least, most) if off(least) < 0 < off(most) else np.nan


def solve_grids(reynolds: float, grids, device, *, lid_speed: float, **options) -> list[CubicFlow]:
    """The cavity of one Reynolds number on each grid, given by nodes a side; options as in `solve_cubic_cavity`."""
    cases = [CubicCavity(reynolds=reynolds, nodes=nodes, lid_speed=lid_speed) for nodes in grids]
    return [solve_cubic_cavity(case, device, **options) for case in cases]


def runs_table(flows: list[CubicFlow]) -> pd.DataFrame:
    """What was run and how it became steady, one row a flow."""
    rows = [
        (case.reynolds, case.nodes, case.problem.relaxation_time, run.steps, run.converged)
        for case, run in ((flow.case, flow.convergence) for flow in flows)
    ]
    return pd.DataFrame(rows, columns=["Re", "nodes a side", "relaxation time", "steps", "converged"])


def beside_split(case: CubicCavity, device, strategy: str, *, precision="single", steps: int = 300) -> pd.DataFrame:
    """How far a strategy's velocity lies from that of plain streaming, `split`, after some steps from rest.

    One row, columns strategy, "nodes a side", steps, "bit for bit", and "largest difference" over the lid's speed.
    """
    found = []
    for name in (strategy, "split"):
        simulation = Simulation(case.problem, device, precision=precision, strategy=name)
        simulation.step(steps)
        found.append(simulation.fields()[1] / case.lid_speed)
    apart = float(np.abs(found[0] - found[1]).max())
    columns = ["strategy", "nodes a side", "steps", "bit for bit", "largest difference"]
    return pd.DataFrame([(strategy, case.nodes, steps, apart == 0, apart)], columns=columns)


def seen_orders(distances: pd.DataFrame) -> np.ndarray:
    """The orders of `between_grids` wherever three grids in a row give one; 0 where none fits their distances."""
    third = distances["reynolds"].duplicated()
    return distances.loc[third, ["order u", "order v"]].fillna(0.0).to_numpy().ravel()


def reference_table(flows: list[CubicFlow], table: pd.DataFrame) -> pd.DataFrame:
    """Distance of each grid's centre lines from published points, rms and largest, over the lid's speed."""
    rows = []
    for flow in flows:
        frame = compare(flow, table)
        rows.append((flow.case.nodes, rms(frame), (frame["ours"] - frame["velocity"]).abs().max()))
    return pd.DataFrame(rows, columns=["nodes a side", "rms", "largest"])


def power_of_spacing(found: pd.DataFrame) -> float:
    """The power of the spacing with which the rms of `reference_table` falls from its first grid to its last."""
    first, last = found.iloc[0], found.iloc[-1]
    widths = (row["nodes a side"] - 2 for row in (last, first))
    return float(np.log(first["rms"] / last["rms"]) / np.log(np.divide(*widths)))


def extrema_table(flows: list[CubicFlow]) -> pd.DataFrame:
    """Extrema of the velocity on the centre lines, at nodes, one row a flow."""
    rows = []
    for flow in flows:
        u, v = (flow.centre_line(name, flow.positions) for name in COMPONENTS)
        rows.append((flow.case.reynolds, u.min(), v.min(), v.max()))
    return pd.DataFrame(rows, columns=["Re", "least u", "least v", "largest v"])
