"""What is measured in the square duct: the error against the series, and its order."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
from scipy.interpolate import RectBivariateSpline

from repro.lbm.cases import WALL_SCHEMES, Duct
from repro.lbm.exact import duct_velocity, duct_velocity_as_printed
from repro.lbm.simulation import Convergence, Simulation
from repro.papers.orders import with_orders

#: nodes across the paper's duct: as many as its curve of figure 4.6 has points, the outermost on the walls
PAPER_NODES = 128

#: nodes across the finest grid from which an order is judged
ORDER_NODES = 32

#: relaxation times with which the thesis runs BGK (figures 5.6 and 5.7); it states none for the duct
THESIS_TIMES = (0.8, 1.0, 1.2)


@dataclass(frozen=True)
class DuctFlow:
    """Velocity along the duct over U0 on its cross-section; `velocity` and `exact` have its shape."""

    case: Duct
    convergence: Convergence
    velocity: np.ndarray
    exact: np.ndarray

    @property
    def error(self) -> float:
        """Relative error in the Euclidean norm over all nodes of the cross-section."""
        return float(np.linalg.norm(self.velocity - self.exact) / np.linalg.norm(self.exact))

    def profile(self, positions) -> np.ndarray:
        """u/U0 on the axis y = 0 at `positions` (in units of the side), by a bicubic spline."""
        nodes = self.case.positions / self.case.side
        return RectBivariateSpline(nodes, nodes, self.velocity, s=0).ev(np.asarray(positions, float), 0.0)


def solve_duct(case: Duct, device, *, precision="single", **end) -> DuctFlow:
    """Run a duct to the steady state of equation 4.2 and return its flow; `end` as of `run_to_steady_state`."""
    simulation = Simulation(case.problem, device, precision=precision, strategy="push")
    convergence = simulation.run_to_steady_state(**end)
    along, numpy_axis = (0, -1) if case.axis == "x" else (2, 0)
    velocity = simulation.fields()[1][along].mean(axis=numpy_axis) / case.u0
    across, viscosity = case.positions, case.problem.viscosity
    exact = duct_velocity(across, across[:, None], case.side, case.force, viscosity)
    return DuctFlow(case, convergence, velocity, exact / case.u0)


def velocity_as_printed(case: Duct, x, y):
    """u/U0 at (x, y), in units of the side, by equation 4.3 of the paper as printed, but with a^2 in its U0.

    With a, as printed, its height would depend on the unit of length.
    """
    side = case.side
    literal = duct_velocity_as_printed(x * side, y * side, side, case.force, case.problem.viscosity)
    return literal * side / case.u0


def error_over_relaxation_time(case: Duct, times, device, *, precision: str = "double") -> pd.DataFrame:
    """Runs of a duct with several relaxation times: error against the series, centre velocity and steps."""
    rows = []
    for value in times:
        run = solve_duct(replace(case, relaxation_time=value), device, precision=precision)
        rows.append((value, 100 * run.error, float(run.profile(0.0)), run.convergence.steps, run.convergence.converged))
    return pd.DataFrame(rows, columns=["relaxation time", "error (%)", "u(0,0)/U0", "steps", "converged"])


def claimed_error(errors: pd.DataFrame) -> dict | None:
    """What the paper's error is judged by: the largest at a relaxation time of the thesis, and a note with all.

    `errors` is from `error_over_relaxation_time`; None unless each of the times was run to the steady state.
    """
    ran = errors[errors["converged"]].set_index("relaxation time")["error (%)"]
    found = ran.reindex(THESIS_TIMES)
    if found.isna().any():
        return None
    each = ", ".join(f"{error:.2f} % at {time:g}" for time, error in found.items())
    return {"measured": float(found.max()), "note": f"relaxation times of the thesis: {each}"}


def error_numbers(errors: pd.DataFrame, stated: float) -> dict:
    """Least and largest error, and at how many relaxation times it is at most the paper's; holds if at any."""
    found = errors["error (%)"]
    below = int((found <= stated).sum())
    return {"least": found.min(), "most": found.max(), "below": below, "holds": below > 0}


def centre(flow: DuctFlow) -> dict:
    """Error in %, and u/U0 on the axis of a flow and of the series; these lie nearer than that."""
    case, ours = flow.case, float(flow.profile(0.0))
    exact = float(duct_velocity(0, 0, case.side, case.force, case.problem.viscosity)) / case.u0
    return {"error": 100 * flow.error, "ours": ours, "exact": exact, "holds": abs(ours / exact - 1) <= flow.error}


def headline(flow: DuctFlow, stated: float) -> str:
    """The error of a flow and the paper's, which it states in per cent, in a line."""
    case = f"Duct of {flow.case.nodes} nodes, relaxation time {flow.case.relaxation_time:g}"
    ours = f"{case}: velocity {100 * flow.error:.2f} % off the exact series"
    return f"{ours}; the paper states {stated:g} %, without its relaxation time"


def paper_grid(simulated: pd.DataFrame, curve: pd.DataFrame) -> dict:
    """Points of the curve in figure 4.6 and of the run, and their stride; holds if the curve has PAPER_NODES."""
    drawn, ran = (np.sort(points["x"].to_numpy(float)) for points in (curve, simulated))
    spacing, stride = (np.median(np.diff(points)) for points in (drawn, ran))
    nodes = round((drawn[-1] - drawn[0]) / spacing) + 1
    return {"nodes": nodes, "ran": len(ran), "stride": stride / spacing, "holds": nodes == PAPER_NODES}


def finest_orders(table: pd.DataFrame) -> tuple[float, float]:
    """Orders between the two finest grids: the least of all but standard walls, and theirs; NaN if not run."""
    orders = table[table["nodes"] == table["nodes"].max()].set_index("walls")["order"]
    return orders.drop("standard", errors="ignore").min(), orders.get("standard", np.nan)


def order_claims(table: pd.DataFrame) -> dict[str, float]:
    """{claim: order} of what section 2.3 says of its walls, from `wall_orders`.

    The one farthest from two of those that it calls second order, and that of standard bounce-back. Empty unless all
    four ran on ORDER_NODES or more.
    """
    orders = table[table["nodes"] == table["nodes"].max()].set_index("walls")["order"]
    if table["nodes"].max() < ORDER_NODES or not set(WALL_SCHEMES) <= set(orders.dropna().index):
        return {}
    second = orders[[wall for wall in WALL_SCHEMES if wall != "standard"]]
    return {"porous-159": float(second[(second - 2).abs().idxmax()]), "porous-165": float(orders["standard"])}


def wall_orders(case: Duct, nodes: list[int], device, *, walls=WALL_SCHEMES) -> pd.DataFrame:
    """Errors of each wall on each grid `with_orders`, in double precision, each run far below its own error."""
    rows = []
    for scheme, count in product(walls, nodes):
        refined = replace(case, walls=scheme, nodes=count)
        # some schemes on some grids never come below a change of 1e-9, by rounding
        flow = solve_duct(refined, device, precision="double", tolerance=1e-9, limit=100_000)
        rows.append((scheme, count, refined.side, flow.error))
    return with_orders(pd.DataFrame(rows, columns=["walls", "nodes", "side", "error"]), "walls", "side", "error")
