"""Sentences of the notebook on collisions, as Markdown, with their numbers."""

import numpy as np
import pandas as pd

from repro.pic.air.collision_tables import Collisions

from .angles import LEAST, Angles
from .balance import Balance
from .tracks import DEVIATIONS, RANGE_ERROR, STOPPING_ERROR, cross_section, named


def air_text(collisions: Collisions) -> str:
    """What is in the air, and which collisions are events."""
    air = collisions.air
    fast = float(cross_section(collisions, 1e6))
    return (
        f"A cubic metre of air, {air.density:g} kg, has {air.electrons:.3g} bound electrons. Secondaries and photons "
        f"above {named(collisions.cut)} are events, and an electron below {named(collisions.stop)} is slow. At 1 MeV "
        f"there are {fast:,.0f} events on a metre, one in {1e6 / fast:.0f} µm, almost all of them elastic."
    )


def stopping_text(table: pd.DataFrame) -> str:
    """How far tracks are from the table, and whether that is within the scatter."""
    worst = table.loc[table["error"].abs().idxmax()]
    return (
        f"From {named(table['energy'].min())} to {named(table['energy'].max())} the tracks lose the table's energy "
        f"within **{100 * abs(worst['error']):.2g} %**; the worst is {named(worst['energy'])}, where the mean has a "
        f"scatter of {100 * worst['scatter']:.2g} %. {int(table['collisions'].sum()):,} collisions were followed."
    )


def angle_text(drawn: dict[float, Angles]) -> str:
    """How small most angles are, and how rare large ones, by the law."""
    lines = []
    for energy, found in drawn.items():
        middle, far = np.interp(0.5, found.below, found.grid), 1 - np.interp(1, found.grid, found.below)
        angle = np.degrees(2 * np.arcsin(np.sqrt(middle / 2)))
        lines.append(
            f"- {named(energy)}: half of all collisions turn by less than {angle:.2g} "
            f"degrees, {far:.2g} of them by more than a right angle; a sample as far from the law, or farther, has the "
            f"probability {found.chance:.2g}."
        )
    return "\n".join(lines)


def range_text(table: pd.DataFrame) -> str:
    """Ranges, one line each."""
    return "\n".join(
        f"- {named(row.energy)}: mean path {row.path:.4g} m against {row.range:.4g} m, **{100 * row.error:+.2g} %**; "
        f"paths scatter by {100 * row.spread:.2g} %. After {row.elastic:,.0f} elastic collisions an electron is "
        f"{100 * row.depth:.0f} % of the range deep on average."
        for row in table.itertuples()
    )


def slow_text(found: Balance) -> str:
    """Rates, and what became of the electrons."""
    lost = found.attached + found.recombined
    return (
        f"The rate of attachment is {found.attachment:.3g} 1/s. With a source of {found.source:.2g} per m$^3$ and "
        f"second it takes {100 * found.attached / lost:.0f} % of the electrons that are lost, and recombination the "
        f"others. The mean density over the last fifth of the time is {100 * found.last:+.2g} % from the exact one."
    )


def verdict(stopping, free, drawn: dict[float, Angles], ranges, slow: Balance) -> str:
    """What holds and what does not; the tables are those of `tracks`."""
    error, reach = float(stopping["error"].abs().max()), float(ranges["error"].abs().max())
    deviation, chance = float(free["deviation"].abs().max()), min(each.chance for each in drawn.values())
    tests = {
        f"the stopping power of tracks, within {100 * STOPPING_ERROR:g} % of ESTAR ({100 * error:.2g} %)": error
        <= STOPPING_ERROR,
        f"the mean optical depth of free paths, 1 within {DEVIATIONS} deviations ({deviation:.2g})": deviation
        <= DEVIATIONS,
        f"elastic angles, not told from their law (Kolmogorov-Smirnov probability {chance:.2g}, at least {LEAST:g})": (
            chance >= LEAST
        ),
        f"ranges, within {100 * RANGE_ERROR:g} % ({100 * reach:.2g} %)": reach <= RANGE_ERROR,
        f"the density of slow electrons ({slow.worst:.2g} of what counting and steps allow)": slow.worst <= 1,
    }
    sides = {kept: [name for name, holds in tests.items() if bool(holds) is kept] for kept in (True, False)}
    lines = [f"- As it should be: {'; '.join(sides[True]) or 'nothing'}."]
    lines += [f"- **Not as it should be**: {'; '.join(sides[False])}."] if sides[False] else []
    return "\n".join(lines)
