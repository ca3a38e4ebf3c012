"""Sentences of the notebook on the dam break, as Markdown, with their numbers."""

from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd

from repro.sph.cases import DamBreak

from .runs import ARRIVAL, ARRIVAL_MARGIN, ENERGY_GAIN, SLOPES, VOLUME_CHANGE, Run, energy_gain

#: sound speed over the speed of a fall from the surface to the bottom, by Becker and Teschner's rule
_RULE = 10


def size_text(case: DamBreak) -> str:
    """How large the tank is, in metres and in time steps, and how stiff the water."""
    system, fluid = case.system(), case.fluid
    depth, sound = system.depth, fluid.sound_speed
    mach = sqrt(2 * fluid.gravity * depth) / sound
    meant = (sound / _RULE) ** 2 / (2 * fluid.gravity)
    return (
        f"Here the column is {case.width:g} m wide and {depth:.3g} m high, of {system.count:,} particles "
        f"{1000 * system.resolution.spacing:.1f} mm apart, in a tank of "
        f"{' x '.join(f'{side:.3g}' for side in system.tank)} m. What falls from its top has {100 * mach:.0f} % of the "
        f"sound speed that the paper's $B$ gives, {sound:.1f} m/s. By the rule that this share should be "
        f"{100 / _RULE:g} %, that $B$ is meant for water {meant:.1f} m deep: the time step, {1e6 * system.dt:.0f} "
        "microseconds, is shorter than this column would need."
    )


def front_text(table: pd.DataFrame) -> str:
    """Whether slope and arrival are as they should be, and whether they converge, from `runs.advances`."""
    ours = table[table["spacings"].notna()].sort_values("spacings")
    finest, parts = ours.iloc[-1], []
    if np.isnan(finest["arrival"]):
        return "No front came as far as $Z = 3$."
    slope_ok = SLOPES[0] <= finest["slope"] <= SLOPES[1]
    parts.append(
        f"With {finest['spacings']} spacings a width the slope is **{finest['slope']:.3f}**, "
        f"{'within' if slope_ok else '**outside of**'} {SLOPES[0]:g} to {SLOPES[1]:g}."
    )
    off = finest["arrival"] - ARRIVAL
    parts.append(
        f"$Z = 3$ is reached at $t^*$ = **{finest['arrival']:.3f}**, {abs(off):.2f} {'after' if off > 0 else 'before'} "
        f"the {ARRIVAL:g} of simulations without a gate, "
        f"{'within' if abs(off) <= ARRIVAL_MARGIN else '**more than**'} {ARRIVAL_MARGIN:g}."
    )
    return " ".join([*parts, _convergence(ours), _lead(table, finest["arrival"])]).strip()


def compared_text(compared: pd.DataFrame, column) -> str:
    """Whether the front is the same on two devices over the whole run, of `runs.compared`."""
    one, other = (name for name in compared if name not in ("reduced", "same bits"))
    apart = float((compared[one] - compared[other]).abs().max())
    same = bool(compared["same bits"].all())
    return (
        f"A column of {' x '.join(map(str, column))} particles was followed on {one} and on {other} until "
        f"$t^*$ = {compared['reduced'].iloc[-1]:.1f}, when its front was at $Z$ = {compared[one].iloc[-1]:.2f}. At all "
        f"{len(compared)} looks "
        + ("every position has the **same bits**." if same else "**not every position** has the same bits.")
        + f" The largest difference between the two fronts is {apart:.2g} widths of the column."
    )


def _convergence(ours: pd.DataFrame) -> str:
    arrivals = ours["arrival"].dropna().to_numpy()
    if len(arrivals) < 2:
        return ""
    changes = np.abs(np.diff(arrivals))
    text = "From each resolution to the next the arrival changes by " + ", ".join(f"{c:.3f}" for c in changes)
    if len(changes) < 2:
        return text + ": two resolutions cannot tell whether it converges."
    shrinking = bool((np.diff(changes) < 0).all())
    return text + (": it converges." if shrinking else ": **it does not converge** over these resolutions.")


def _lead(table: pd.DataFrame, arrival: float) -> str:
    rest = table[table["spacings"].isna()].dropna(subset="arrival")
    parts = [f"{row.arrival:.2f} ({row.front}), {row.arrival - arrival:+.2f}" for row in rest.itertuples()]
    return f"The experiments, with their gates, reach it at {' and '.join(parts)} against this run."


def kept_text(run: Run, volumes: pd.DataFrame) -> str:
    """Whether energy, volume and particles are kept."""
    gain, last = energy_gain(run), run.table.iloc[-1]
    worst = volumes.loc[(volumes["volume"] - 1).abs().idxmax()]
    grows = gain > ENERGY_GAIN
    change = worst["volume"] - 1
    lost = int(run.table["lost"].max())
    start = run.table["total"].iloc[0]
    return (
        f"**Energy.** From look to look the total grows by at most {100 * max(gain, 0):.2g} % of what there was at the "
        f"start: it {'**grows**' if grows else 'never grows'}, but for rounding ({100 * ENERGY_GAIN:g} %). By "
        f"{last['time']:.2f} s {100 * last['dissipated'] / start:.1f} % is dissipated.\n\n"
        f"**Volume.** It is furthest from the column's at {worst['time']:.2f} s, by {100 * change:+.1f} %: "
        f"{'within' if abs(change) <= VOLUME_CHANGE else '**more than**'} {100 * VOLUME_CHANGE:g} %. At the end it is "
        f"{100 * (volumes['volume'].iloc[-1] - 1):+.1f} % off{_drift(volumes)}.\n\n"
        f"**Particles.** {'None is' if lost == 0 else f'**{lost}** are'} lost of {run.system.count:,}. The worst is at "
        f"one time {max(run.table['beyond'].max(), 0):.2f} spacings beyond a wall; at half a spacing it would meet the "
        "first ghosts, and count as lost."
    )


def _drift(volumes: pd.DataFrame) -> str:
    """By how much the volume changes a second over the second half of the run: whether it is at rest."""
    late = volumes[volumes["time"] >= volumes["time"].iloc[-1] / 2]
    if len(late) < 3:
        return ""
    slope = np.polyfit(late["time"], late["volume"], 1)[0]
    return f"; over the second half of the run it changes by {100 * slope:+.2f} % a second"


def files_text(files: dict[str, Path]) -> str:
    """What was written, by what it is."""
    parts = (f"`{file.name}`: {name}, {file.stat().st_size / 1e3:,.3g} kB" for name, file in files.items())
    return "; ".join(parts) + "."


def verdict(table: pd.DataFrame, run: Run, volumes: pd.DataFrame) -> str:
    """What agrees with experiments and laws in this run, and what does not."""
    finest = table[table["spacings"].notna()].sort_values("spacings").iloc[-1]
    tests = {
        f"the front's slope ({finest['slope']:.2f})": SLOPES[0] <= finest["slope"] <= SLOPES[1],
        f"its arrival at $Z=3$ ({finest['arrival']:.2f})": abs(finest["arrival"] - ARRIVAL) <= ARRIVAL_MARGIN,
        "energy, which never grows": energy_gain(run) <= ENERGY_GAIN,
        "the volume": bool(((volumes["volume"] - 1).abs() <= VOLUME_CHANGE).all()),
        "the number of particles": int(run.table["lost"].max()) == 0,
    }
    sides = {kept: [name for name, holds in tests.items() if bool(holds) is kept] for kept in (True, False)}
    hang = int(run.table["hanging"].iloc[-1])
    lines = [f"- As it should be: {', '.join(sides[True]) or 'nothing'}."]
    lines += [f"- **Not as it should be**: {', '.join(sides[False])}."] if sides[False] else []
    lines += [f"- At the end {hang} particles hang from the lid or rest there, which water would not."] if hang else []
    return "\n".join(
        [
            *lines,
            "- The front and the volume are those of the resolution at hand: what this run has is said above.",
            "- The paper's pictures can be compared in kind only: it states no size, no viscosity and no time step.",
        ]
    )
