"""What is measured in the lid-driven cavity: stream function, vortex centres and centre lines."""

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline, RectBivariateSpline
from scipy.ndimage import maximum_filter
from scipy.optimize import minimize

from repro.errors import InputError
from repro.lbm.cases import Cavity
from repro.lbm.model import SPEED_OF_SOUND
from repro.lbm.simulation import Convergence, Simulation

from ..published import reference

#: search boxes of the three vortices (x from, to, y from, to) and the sign of their stream function
VORTICES = {
    "primary": ((0.2, 0.9, 0.2, 0.9), -1),
    "BR1": ((0.55, 0.995, 0.005, 0.5), 1),
    "BL1": ((0.005, 0.45, 0.005, 0.45), 1),
}

#: claims on the centres, porous-020 to 031 of table 4.1: first the thesis's column, then Ghia's; vortex and coordinate
CENTRE_CLAIMS = {f"porous-{k:03d}": place for k, place in enumerate([*product(VORTICES, "xy")] * 2, 20)}

#: points of Ghia's table that are misprinted: (column, coordinate)
MISPRINTED = {("v", 400): (0.9063,)}


@dataclass(frozen=True)
class Flow:
    """The velocity over the lid speed in the closed cavity, walls included, and splines through it.

    x and y run from 0 to 1 with the walls as first and last entry; u, v, stream_function have shape (y, x).
    """

    case: Cavity
    convergence: Convergence
    x: np.ndarray
    y: np.ndarray
    u: np.ndarray
    v: np.ndarray

    @property
    def stream_function(self) -> np.ndarray:
        """psi with u = d psi/dy, v = -d psi/dx, zero at the walls; integrated by splines from the bottom wall."""
        return np.stack([CubicSpline(self.y, column).antiderivative()(self.y) for column in self.u.T], axis=1)

    def centre_line(self, component: str, positions) -> np.ndarray:
        """u along x = 1/2 at heights `positions`, or v along y = 1/2 at `positions` along x, by bicubic splines."""
        field = RectBivariateSpline(self.y, self.x, self.u if component == "u" else self.v, s=0)
        positions = np.asarray(positions, float)
        return field.ev(positions, 0.5) if component == "u" else field.ev(0.5, positions)


def solve_cavity(case: Cavity, device, *, precision="single", **end) -> Flow:
    """Run a cavity to the steady state of equation 4.2 and return its flow; `end` as of `run_to_steady_state`."""
    simulation = Simulation(case.problem, device, precision=precision, strategy="push")
    convergence = simulation.run_to_steady_state(**end)
    velocity = simulation.fields()[1][:, 0] / case.lid_speed
    x, y = case.positions
    u, v = (_with_walls(component, x, y) for component in velocity[:2])
    u[-1, 1:-1] = 1.0
    return Flow(case, convergence, _closed(x), _closed(y), u, v)


def _closed(positions: np.ndarray) -> np.ndarray:
    """Node positions with the walls at 0 and 1, whether or not nodes lie there."""
    return np.concatenate([[0.0], positions[(positions > 0) & (positions < 1)], [1.0]])


def _with_walls(field: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The field with a rim of zeros at the walls, in place of nodes that lie on them."""
    inner = field[np.ix_((y > 0) & (y < 1), (x > 0) & (x < 1))]
    return np.pad(inner, 1)


def vortex_centres(flow: Flow) -> pd.DataFrame:
    """Centres of the vortices that the flow has: extrema of a spline through psi, far below the grid spacing."""
    psi = flow.stream_function
    spline = RectBivariateSpline(flow.y, flow.x, psi, s=0)
    rows = []
    for name, ((x0, x1, y0, y1), sign) in VORTICES.items():
        rows_in, columns_in = (flow.y >= y0) & (flow.y <= y1), (flow.x >= x0) & (flow.x <= x1)
        part = sign * psi[np.ix_(rows_in, columns_in)]
        j, i = np.unravel_index(np.argmax(part), part.shape)
        interior = 0 < j < part.shape[0] - 1 and 0 < i < part.shape[1] - 1
        if interior and part[j, i] > 0:
            rows.append((name, *_extremum(spline, flow.x[columns_in][i], flow.y[rows_in][j], sign, flow)))
    return pd.DataFrame(rows, columns=["vortex", "x", "y", "stream_function"])


def vortex_strengths(flow: Flow) -> np.ndarray:
    """Stream function, over lid speed times side, at its extrema inside the cavity, without sign, the largest first."""
    psi, found = flow.stream_function, []
    for part in (psi, -psi):
        peaks = (part == maximum_filter(part, size=3)) & (part > 0)
        found.append(part[1:-1, 1:-1][peaks[1:-1, 1:-1]])
    return np.sort(np.concatenate(found))[::-1]


def count_vortices(flow: Flow, least: float = 1e-6) -> int:
    """Number of vortices: extrema of the stream function inside the cavity.

    Those count whose stream function exceeds `least` of lid speed times side: rounding makes no vortex, and of the
    endless row of ever weaker ones in a corner (Moffatt 1964) the first is counted.
    """
    return int((vortex_strengths(flow) > least).sum())


def vortices_claim(flow: Flow) -> dict:
    """The number of vortices, and between which thresholds of `count_vortices` it is the same."""
    count, strengths = count_vortices(flow), vortex_strengths(flow)
    weaker = strengths[count:].max(initial=0.0)
    return {"measured": count, "note": f"by any threshold from {weaker:.1e} to {strengths[:count].min(initial=1):.1e}"}


def _extremum(spline, x: float, y: float, sign: int, flow: Flow) -> tuple[float, float, float]:
    spacing, scale = 1.5 * float(np.diff(flow.x).max()), abs(float(spline.ev(y, x)))

    def value_and_slopes(p):
        value, *slopes = (-sign * float(spline.ev(p[1], p[0], **d)) / scale for d in ({}, {"dy": 1}, {"dx": 1}))
        return value, np.array(slopes)

    options = {"method": "L-BFGS-B", "options": {"ftol": 1e-15, "gtol": 1e-9}}
    bounds = [(at - spacing, at + spacing) for at in (x, y)]
    found = minimize(value_and_slopes, (x, y), jac=True, bounds=bounds, **options)
    return float(found.x[0]), float(found.x[1]), float(spline.ev(found.x[1], found.x[0]))


def centre_table(centres: pd.DataFrame, ghia: pd.DataFrame, converged: pd.DataFrame, reynolds: float) -> pd.DataFrame:
    """Our centres beside Ghia's and those of a converged solution, by vortex, NaN where a table lacks the vortex.

    `ghia` and `converged` have the columns Re, vortex, x, y. The last column is our distance to the converged centre.
    """
    table = centres.set_index("vortex")[["x", "y"]]
    for name, other in (("Ghia", ghia), ("converged", converged)):
        theirs = other[other["Re"] == reynolds].set_index("vortex")[["x", "y"]]
        table = table.join(theirs.add_suffix(f" {name}"))
    apart = np.hypot(table["x"] - table["x converged"], table["y"] - table["y converged"])
    return table.assign(**{"distance to converged": apart})


def centre_claims(table: pd.DataFrame) -> dict:
    """{claim: coordinate} of table 4.1, of the vortices that the flow has."""
    places = table[["x", "y"]].stack().dropna()
    return {claim: float(places[place]) for claim, place in CENTRE_CLAIMS.items() if place in places.index}


def other_centres(published: dict[str, float], ghia: pd.DataFrame, reynolds: float) -> dict[str, pd.DataFrame]:
    """The paper's and Ghia's centres (x and y by vortex) at a Reynolds number, by name; empty where they have none.

    `published` has the paper's value of each claim on its own column of table 4.1, at Reynolds number 400.
    """
    table = pd.Series({CENTRE_CLAIMS[claim]: value for claim, value in published.items()}).unstack()
    theirs = ghia[ghia["Re"] == reynolds].set_index("vortex")
    found = {"paper": table if reynolds == 400 else table[:0], "Ghia et al. 1982": theirs}
    return {name: centres for name, centres in found.items() if len(centres)}


def headline(centres: pd.DataFrame, others: dict[str, pd.DataFrame], reynolds: float) -> str:
    """Where the flow has its primary vortex, and where `others` have it (`other_centres`), in a line."""
    tables = {"here": centres.set_index("vortex")} | others
    places = {name: table.loc["primary", ["x", "y"]] for name, table in tables.items() if "primary" in table.index}
    each = ", ".join(f"{name} ({place['x']:.4f}, {place['y']:.4f})" for name, place in places.items())
    return f"Centre of the primary vortex at Re = {reynolds:g}, in units of the side: {each}"


def changed(flow: Flow, device, *, precision="single", **changes) -> Flow:
    """The flow of the same cavity with some `changes`; `flow` itself without any."""
    case = replace(flow.case, **changes)
    return flow if case == flow.case else solve_cavity(case, device, precision=precision)


def compare_with_ghia(flow: Flow, table: pd.DataFrame, component: str) -> pd.DataFrame:
    """Ghia's centre line beside ours: columns position, ghia, ours, misprinted.

    `table` is data/reference/ghia1982_u_centerline.csv or ghia1982_v_centerline.csv. Raises InputError for a Reynolds
    number that it does not have.
    """
    reynolds = round(flow.case.reynolds)
    position, column = table.columns[0], f"{component}_Re{reynolds}"
    if column not in table or flow.case.reynolds != reynolds:
        known = ", ".join(name.partition("_Re")[2] for name in table.columns[1:])
        raise InputError(f"Ghia's tables have no Reynolds number {flow.case.reynolds:g}: choose from {known}")
    frame = pd.DataFrame({"position": table[position], "ghia": table[column]})
    frame["ours"] = flow.centre_line(component, frame["position"])
    frame["misprinted"] = frame["position"].isin(MISPRINTED.get((component, reynolds), ()))
    return frame


def rms_difference(frame: pd.DataFrame) -> float:
    """Root mean square of ours minus Ghia's over the points that are not misprinted."""
    kept = frame[~frame["misprinted"]]
    return float(np.sqrt(np.mean((kept["ours"] - kept["ghia"]) ** 2)))


def compare_centre_lines(flows: dict[float, Flow], data: Path) -> dict:
    """{(Reynolds number, component): `compare_with_ghia`} for the flows, from the folder data/."""
    tables = {name: reference(data, f"ghia1982_{name}_centerline.csv") for name in "uv"}
    pairs = [(value, component) for value in flows for component in "uv"]
    return {(value, name): compare_with_ghia(flows[value], tables[name], name) for value, name in pairs}


def centre_line_table(lines: dict, accuracy: pd.DataFrame) -> pd.DataFrame:
    """Our rms difference to Ghia, Ghia's own error by `accuracy`, NaN if not known, and their ratio, of each line."""
    errors = accuracy.set_index(["Re", "component"])["rms"]
    rows = [(*key, rms_difference(frame), errors.get(key, np.nan)) for key, frame in lines.items()]
    table = pd.DataFrame(rows, columns=["Re", "component", "rms difference to Ghia", "Ghia's own error"])
    return table.assign(ratio=table["rms difference to Ghia"] / table["Ghia's own error"])


def error_ratios(table: pd.DataFrame, lid_speed: float) -> dict:
    """Least and largest ratio of a `centre_line_table`, and the Mach number; holds if all are below two."""
    ratio = table["ratio"]
    return {"least": ratio.min(), "most": ratio.max(), "mach": lid_speed / SPEED_OF_SOUND, "holds": ratio.max() < 2}
