"""Sentences of the notebook on water at rest, as Markdown, with their numbers."""

import numpy as np
import pandas as pd

from repro.papers.sph.boundaries import NAMES
from repro.sph.cases import StillWater
from repro.sph.exact import rest_pressure
from repro.sph.stability_checks import THROUGH

from .runs import DEEP, ENERGY_GAIN, PRESSURE_ERROR, Run

#: by how much of itself the drift of water at rest may grow over the second half of a run
STILL = 0.1


def case_text(case: StillWater, seconds: float) -> str:
    """How much water there is, and how much it is compressed."""
    system, fluid = case.system(), case.fluid
    bottom = float(rest_pressure(system.depth, fluid))
    weight = fluid.density * fluid.gravity * system.depth
    return (
        f"{system.count:,} particles {1000 * case.spacing:g} mm apart, {system.depth:.2f} m deep, for {seconds:g} s, "
        f"{round(seconds / system.dt):,} steps. The pressure at the bottom is {bottom / 1000:.3f} kPa, "
        f"{100 * (bottom / weight - 1):.4f} % more than $\\rho_0 g H$, because deep water is a little denser."
    )


def boundary_text(runs: dict[str, Run]) -> str:
    """What becomes of the water with each treatment of the boundaries."""
    return "\n".join(_one(name, run) for name, run in runs.items())


def _one(name: str, run: Run) -> str:
    last, error = run.table.iloc[-1], run.error
    side = "within" if error <= PRESSURE_ERROR else "**not within**"
    return (
        f"- {name.capitalize()}: the pressure is off by up to **{100 * error:.3g} %** below {DEEP} smoothing lengths, "
        f"{side} {100 * PRESSURE_ERROR:g} %. After {last['time']:.3g} s particles are, root mean square, "
        f"{last['drift']:.2g} spacings from where they began (the worst {last['worst']:.2g}) and move with "
        f"{1000 * last['speed']:.2g} mm/s; they have "
        f"{'sunk' if last['settled'] > 0 else 'risen'} by {abs(last['settled']):.2g} spacings on average."
    )


def convergence_text(table: pd.DataFrame, seconds: float) -> str:
    """Whether errors fall with the spacing, for each smoothing length, of `runs.resolutions` of `seconds`."""
    parts = []
    for ratio, rows in table.groupby("ratio"):
        errors = rows.sort_values("spacing", ascending=False)["error"].to_numpy()
        shown = ", ".join(f"{100 * error:.3g} %" for error in errors)
        falls = "falls" if (np.diff(errors) < 0).all() else "**does not fall**"
        trend = f": it {falls} with the spacing" if len(errors) > 1 else ""
        parts.append(f"With $h$ = {ratio:g} spacings the error is {shown}{trend}.")
    return f"After {seconds:g} s: " + " ".join(parts)


def _rest(run: Run) -> dict[str, bool]:
    """Whether speed and drift show water at rest over the second half of a run."""
    half, last = run.table.iloc[len(run.table) // 2], run.table.iloc[-1]
    said = (
        f"rest (from {half['time']:.3g} s to {last['time']:.3g} s the speed goes from {1000 * half['speed']:.3g} to "
        f"{1000 * last['speed']:.3g} mm/s, and the drift from {half['drift']:.3g} to {last['drift']:.3g} spacings)"
    )
    return {said: bool(last["speed"] < half["speed"] and last["drift"] < (1 + STILL) * half["drift"])}


def verdict(runs: dict[str, Run]) -> str:
    """What holds with ghosts and what does not, and by how much the others differ."""
    run, others = runs[NAMES["ghosts"]], {name: r for name, r in runs.items() if name != NAMES["ghosts"]}
    beyond = max(float(run.table["beyond"].max()), 0.0)
    tests = {
        f"the pressure within {100 * PRESSURE_ERROR:g} % ({100 * run.error:.2g} %)": run.error <= PRESSURE_ERROR,
        f"the energy, no more than {100 * ENERGY_GAIN:g} % above its start ({100 * max(run.gain, 0):.2g} %)": (
            run.gain <= ENERGY_GAIN
        ),
        f"no particle through a wall ({beyond:.2g} spacings beyond one at most)": beyond <= THROUGH,
        f"no particle far from where it began ({run.table['worst'].iloc[-1]:.2g} spacings)": bool(
            run.table["worst"].iloc[-1] < 1
        ),
        **_rest(run),
    }
    sides = {kept: [name for name, holds in tests.items() if bool(holds) is kept] for kept in (True, False)}
    lines = [f"- With ghosts, as it should be: {'; '.join(sides[True]) or 'nothing'}."]
    lines += [f"- With ghosts, **not as it should be**: {'; '.join(sides[False])}."] if sides[False] else []
    drift = run.table["drift"].iloc[-1]
    for name, other in others.items():
        lines.append(
            f"- {name.capitalize()} the error of the pressure is {other.error / run.error:.3g} times and the drift "
            f"{other.table['drift'].iloc[-1] / drift:.3g} times as large."
        )
    return "\n".join(lines)
