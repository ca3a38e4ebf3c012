"""Sentences of the notebook on gyration, as Markdown, with their numbers."""

import numpy as np
import pandas as pd

from .crossed import PUSHERS, largest_angle, order
from .orbits import PHASE_ERROR, RADIUS_ERROR

#: relative error of a drift that is rounding
_ROUNDING = 1e-9


def turns_text(table: pd.DataFrame) -> str:
    """Radius and phase against what is asked for, from `orbits.summary`."""
    lines = []
    for precision, rows in table.groupby("precision", sort=False):
        radius, phase = rows["radius error"].max(), rows["phase error"].max()
        line = f"- In {precision} precision the radius is off by at most **{radius:.2g}** and the phase by {phase:.2g}"
        if precision == "double":
            good = radius <= RADIUS_ERROR and phase <= PHASE_ERROR
            line += f": {'within' if good else '**not within**'} {RADIUS_ERROR:g} and {PHASE_ERROR:g} radians"
        lines.append(f"{line}, the energy by {rows['energy error'].max():.2g}.")
    boris = table["phase error of Boris"]
    lines.append(
        f"- With Boris' rotation and the same steps the phase would lag by {boris.min():.3g} to {boris.max():.3g} "
        f"radians, {boris.max() / (2 * np.pi):.2g} turns at worst, in any precision."
    )
    return "\n".join(lines)


def drift_text(table: pd.DataFrame) -> str:
    """Whose drift is E x B / B^2, from `crossed.drift_table`."""
    worst = {name: table[name].abs().max() for name in ("solver", "Boris", "Vay", "Higuera and Cary")}
    exact = [name for name, error in worst.items() if error < _ROUNDING]
    others = [f"{name} {error:.1g}" for name, error in worst.items() if name not in exact]
    how = "exactly" if "solver" in exact else "**not exactly**"
    same = [name for name in exact if name != "solver"]
    return (
        f"The solver drifts with $E/B$ {how}: its largest relative error is {worst['solver']:.1g}. "
        f"The largest of the others, over five times as many steps: {', '.join(others) or 'rounding'}"
        f"{f'; {same[0]} to rounding' if same else ''}."
    )


def force_free_text(table: pd.DataFrame, gamma: float) -> str:
    """Who leaves an electron alone on which no force acts, and what the others do, from `crossed.force_free`."""
    lines, smallest = [], table["turn"].min()
    for name in PUSHERS:
        rows = table[table["pusher"] == name]
        worst, finest = rows["angle"].max(), rows[rows["turn"] == smallest].iloc[0]
        if worst < _ROUNDING:
            lines.append(f"- {name}: straight on to rounding, {worst:.1g} radians at most.")
            continue
        theory = float(largest_angle(name, smallest, gamma))
        lines.append(
            f"- {name}: **fails**. It swings by up to {worst:.2g} radians{_too_long(rows, name, gamma)}, of order "
            f"{order(table, name):.2f} in the step. At {smallest:g} radians a step these are {finest['angle']:.2g} "
            f"(small steps: {theory:.2g}), the energy is off by {100 * finest['energy']:.2g} %, and the mean velocity "
            f"by {abs(finest['drift']):.1g}."
        )
    return "\n".join(lines)


def _too_long(rows: pd.DataFrame, name: str, gamma: float) -> str:
    """Where the largest deflection of the solver's own step is at a step that the solver refuses."""
    at = rows.loc[rows["angle"].idxmax(), "turn"]
    taken = rows[rows["turn"] <= 1 / gamma]
    if name != "splitting" or at <= 1 / gamma or taken.empty:
        return ""
    return f" (at {at:g} a step; the solver takes none above {1 / gamma:g}, and {taken['angle'].max():.2g} up to that)"


def leak_text(found: dict[str, dict], count: int) -> str:
    """Whether anybody was lost, from `orbits.leaks`."""
    lines = []
    for precision, run in found.items():
        lost = run["lost"] or count - run["counted"]
        lines.append(
            f"- {precision.capitalize()} precision: about {run['crossings']:.3g} faces lie on the helices (by their "
            f"mean speeds, not counted), and {'nobody was' if not lost else f'**{lost} electrons were**'} lost or "
            f"doubled. The worst electron is {run['distance'].max():.2g} cells from its helix."
        )
    return "\n".join(lines)


def verdict(turns: pd.DataFrame, drifts: pd.DataFrame, free: pd.DataFrame, found: dict[str, dict], count: int) -> str:
    """What is as it should be and what is not."""
    double = turns[turns["precision"] == "double"]
    tests = {
        f"radius within {RADIUS_ERROR:g} and phase within {PHASE_ERROR:g} in double precision": bool(
            (double["radius error"] <= RADIUS_ERROR).all() and (double["phase error"] <= PHASE_ERROR).all()
        ),
        "a drift of E/B to rounding, slow and fast": bool(drifts["solver"].abs().max() < _ROUNDING),
        "no electron lost at a face": all(run["counted"] == count and not run["lost"] for run in found.values()),
        "orbits through faces that are the free helix to rounding (below 1e-10 of a cell in double precision)": bool(
            found["double"]["distance"].max() < 1e-10
        ),
        "a straight way where no force acts": bool(free.loc[free["pusher"] == "splitting", "angle"].max() < _ROUNDING),
    }
    sides = {kept: [name for name, holds in tests.items() if holds is kept] for kept in (True, False)}
    lines = [f"- As it should be: {'; '.join(sides[True]) or 'nothing'}."]
    lines += [f"- **Not as it should be**: {'; '.join(sides[False])}."] if sides[False] else []
    return "\n".join(lines)
