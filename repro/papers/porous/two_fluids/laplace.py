"""Bubbles at rest (figure 6.2) and flat interfaces: tables, the fitted line, the claims."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from repro.errors import InputError
from repro.lbm.two_fluids.cases import Bubble, FlatInterface
from repro.lbm.two_fluids.exact import coexistence, lattice_coexistence, surface_tension
from repro.lbm.two_fluids.forces import STRENGTH
from repro.lbm.two_fluids.observables import bubble_state

CLAIMS = ("porous-069", "porous-162", "porous-163")

#: change of the pressure over the last fifth of the steps below which a bubble counts as settled
SETTLED = 3e-3


class Line(NamedTuple):
    """A straight line through the origin, fitted to the pressure difference over 1/r."""

    #: slope over 1 for circles, over 2 for spheres (equation 6.1)
    tension: float
    #: standard error of it
    error: float
    #: 1 - (sum of squared residuals)/(sum of squares about the mean)
    r_squared: float


def bubbles(cases, device, steps: int, *, precision: str) -> pd.DataFrame:
    """Run bubbles; one row each.

    The pressure is the difference, the density that of both fluids inside, the change that of the pressure over the
    last fifth of the steps, relative. A bubble that has left the middle has a change of infinity, and nothing else.
    """
    return pd.DataFrame([_row_of(case, case.start(device, precision=precision), steps) for case in cases])


def _row_of(case: Bubble, flow, steps: int) -> dict:
    row = {"dimensions": case.dimensions, "nodes": case.nodes, "interaction": case.interaction}
    row |= {"stencil": case.stencil, "start": case.radius}
    try:
        flow.step(int(0.8 * steps))
        before = bubble_state(flow)
        flow.step(steps - flow.steps)
        state = bubble_state(flow)
    except InputError:
        # it has left the middle, or is gone: nothing to measure, and certainly not at rest
        return row | {"change": float("inf")}
    row |= {"radius": state.radius, "curvature": 1 / state.radius, "pressure": state.pressure_difference}
    row |= {"tension": state.tension / (case.dimensions - 1), "density": sum(state.inside)}
    row |= {"anisotropy": state.anisotropy, "spurious": state.spurious_velocity}
    return row | {"change": abs(state.pressure_difference / before.pressure_difference - 1)}


def fields(case: Bubble, device, steps: int, *, precision: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Densities of both fluids (nodes, nodes) of a circle after so many steps, and its radius."""
    flow = case.start(device, precision=precision)
    flow.step(steps)
    a, b, _ = flow.fields()
    return a[0], b[0], bubble_state(flow).radius


def over_radii(radii, **case) -> list[Bubble]:
    """Bubbles of several radii; `case` as of Bubble."""
    return [Bubble(radius=radius, **case) for radius in radii]


def joined(*tables: pd.DataFrame) -> pd.DataFrame:
    """Tables of `bubbles` one below the other; the empty ones are left out."""
    full = [table for table in tables if len(table)] or [pd.DataFrame(columns=["dimensions", "stencil", "interaction"])]
    return pd.concat(full, ignore_index=True)


def line(rows: pd.DataFrame) -> Line:
    """The fitted line of some rows of `bubbles`, all circles or all spheres."""
    x, y = rows["curvature"].to_numpy(), rows["pressure"].to_numpy()
    slope = (x * y).sum() / (x * x).sum()
    residual = ((y - slope * x) ** 2).sum()
    error = np.sqrt(residual / (len(x) - 1) / (x * x).sum()) if len(x) > 1 else np.nan
    factor = int(rows["dimensions"].iloc[0]) - 1
    return Line(float(slope / factor), float(error / factor), float(1 - residual / ((y - y.mean()) ** 2).sum()))


def off_line(rows: pd.DataFrame) -> float:
    """The largest distance of the bubbles of `line` from it, in % of the pressure difference on the line."""
    found = line(rows)
    on_line = found.tension * (int(rows["dimensions"].iloc[0]) - 1) * rows["curvature"]
    return float(100 * (rows["pressure"] / on_line - 1).abs().max())


def lines(table: pd.DataFrame) -> pd.DataFrame:
    """The fitted lines of `bubbles` that are not gone, by dimensions, stencil and interaction."""
    keys = ["dimensions", "stencil", "interaction"]
    there = table.dropna(subset="radius") if "radius" in table else table
    found = [(*key, *line(rows)) for key, rows in there.groupby(keys, sort=False) if len(rows) > 1]
    return pd.DataFrame(found, columns=[*keys, *Line._fields]).set_index(keys)


def by_stencil(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the radii of anisotropy and spurious velocity, and the largest change, of circles, by stencil."""
    circles = table[table["dimensions"] == 2].groupby("stencil", sort=False)
    return circles.agg({"tension": "mean", "anisotropy": "mean", "spurious": "max", "change": "max"})


def flat_interfaces(cases: list[FlatInterface], device, steps: int, *, precision: str) -> pd.DataFrame:
    """Phases on both sides of flat interfaces; one row a case.

    Densities of fluid a in its own phase and in the other, those that the continuum predicts at the same pressure, and
    those by the lattice's balance at rest at the same density. The pressure's step is relative, that of the chemical
    potential over 6 g rho; the tension is from the pressure tensor.
    """
    rows, names = [], ("majority", "minority")
    for case in cases:
        flow = case.start(device, precision=precision)
        flow.step(steps)
        a, b, _ = (field.squeeze() for field in flow.fields())
        middle, strength = case.nodes // 2, STRENGTH * case.interaction
        pressure = case.problem.pressure(a, b)
        potential = np.log(a) / 3 + strength * b
        row = {"interaction": case.interaction, "stencil": case.stencil}
        phases = {"": (a[middle], a[0]), "continuum ": coexistence(case.interaction, pressure=pressure[middle])}
        phases["lattice "] = lattice_coexistence(case.interaction, density=(a + b)[middle])
        row |= {f"{kind}{name}": rho for kind, both in phases.items() for name, rho in zip(names, both, strict=True)}
        row["pressure step"] = abs(pressure[middle] / pressure[0] - 1)
        row["potential step (%)"] = 100 * abs(potential[middle] - potential[0]) / (strength * (a + b)[middle])
        row["tension"] = surface_tension(a, b, case.interaction, case.stencil) / 2
        rows.append(row | {"thickness": thickness(a, b)})
    return pd.DataFrame(rows)


def thickness(a: np.ndarray, b: np.ndarray) -> float:
    """Thickness of a flat interface in nodes: the difference between the phases of a - b over its steepest slope."""
    difference = a - b
    return float(np.ptp(difference) / np.abs(np.diff(difference)).max())


def thickness_claims(flat: pd.DataFrame) -> dict[str, float]:
    """{claim: value} of what section 6.2(3) says of g, from `flat_interfaces`; empty without both strengths."""
    rows = flat.set_index("interaction")["thickness"]
    return {"porous-163": float(rows[0.15] / rows[0.2])} if {0.15, 0.2} <= set(rows.index) else {}


def precisions(case: Bubble, device, steps: int) -> pd.DataFrame:
    """The same bubble in both precisions, indexed by precision."""
    found = {name: bubbles([case], device, steps, precision=name).iloc[0] for name in ("single", "double")}
    return pd.DataFrame(found).T[["radius", "pressure", "tension", "anisotropy", "spurious"]].astype(float)


def published_line(points: pd.DataFrame) -> Line:
    """The line through the paper's points of figure 6.2 (columns x = 1/r and y = pressure difference)."""
    return line(pd.DataFrame({"curvature": points["x"], "pressure": points["y"], "dimensions": 2}))


def settled(table: pd.DataFrame) -> bool:
    """Whether the pressure of no bubble still changes."""
    return bool(table["change"].max() < SETTLED)


def tensions(ours: Line, theirs: Line) -> dict:
    """Our tension, R^2 (0 of one bubble), and by how many % it is off the paper's points; holds within 5 % of them."""
    off = ours.tension / theirs.tension - 1
    numbers = {"ours": ours.tension, "r": float(np.nan_to_num(ours.r_squared)), "off": 100 * off}
    return numbers | {"holds": abs(off) < 0.05 and ours.r_squared > 0.99}


def headline(circles: pd.DataFrame, ours: Line, theirs: Line) -> str:
    """The surface tension of some `bubbles` and that of the paper's points, in a line."""
    radii = f"radius {circles['radius'].min():.0f} to {circles['radius'].max():.0f}"
    tension = f"{ours.tension:.4f} in lattice units; the paper's points give {theirs.tension:.4f}"
    return f"Surface tension from the pressure in bubbles of {radii}: {tension}"


def restless(stencils: pd.DataFrame) -> dict:
    """Velocities with the central difference, and over those with the sum; holds if only the first never settles."""
    named, summed = stencils.loc["central"], stencils.loc["isotropic-4"]
    times = named["spurious"] / summed["spurious"]
    return {"named": named["spurious"], "times": times, "holds": bool(named["change"] > SETTLED > summed["change"])}


def spheres_agree(found: pd.DataFrame) -> dict:
    """Tensions of circles and spheres with the same stencil and interaction, of `lines`; holds within 5 %."""
    tension = found["tension"]
    (_, *kind), spheres = next((key, value) for key, value in tension.items() if key[0] == 3)
    circles = tension[(2, *kind)]
    return {"circles": circles, "spheres": spheres, "holds": abs(spheres / circles - 1) < 0.05}


def balanced(flat: pd.DataFrame) -> dict:
    """The largest relative difference of a dissolved density from that of the lattice's balance; holds below 1 %."""
    off = float((flat["minority"] / flat["lattice minority"] - 1).abs().max())
    return {"off": off, "holds": off < 0.01}


def continuum_fails(flat: pd.DataFrame) -> dict:
    """The step of the chemical potential in % at the strongest interaction; holds if it is more than 1 % there only."""
    steps = flat.set_index("interaction")["potential step (%)"].sort_index()
    return {"step": steps.iloc[-1], "g": steps.index[-1], "holds": bool(steps.iloc[-1] > 1 >= steps.iloc[0])}


def against_paper(table: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """The paper's bubbles beside ours of the same start, by radius; empty unless there are as many circles."""
    found = table.query("dimensions == 2").sort_values("start", ignore_index=True)[["start", "radius", "pressure"]]
    theirs = points.sort_values("x", ascending=False, ignore_index=True)
    if len(found) != len(theirs):
        return pd.DataFrame()
    found.insert(2, "paper's", 1 / theirs["x"])
    found["paper's pressure"] = theirs["y"]
    return found.assign(**{"difference (%)": 100 * (found["pressure"] / theirs["y"] - 1)})
