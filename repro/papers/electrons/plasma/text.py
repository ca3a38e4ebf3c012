"""Sentences of the notebook on plasma, as Markdown, with their numbers."""

import pandas as pd

from .loop import kept, walk
from .waves import ENERGY_DRIFT, FREQUENCY_ERROR

#: how far a frequency may be from the scheme's own theory, and a growth rate from theory
_THEORY, _GROWTH = 1e-4, 0.02


def frequency_text(table: pd.DataFrame) -> str:
    """Which waves have the plasma frequency, from `waves.frequencies`."""
    good = table["deviation (%)"].abs() <= 100 * FREQUENCY_ERROR
    lines = [f"- {good.sum()} of {len(table)} waves oscillate with $\\omega_p$ within {100 * FREQUENCY_ERROR:g} %."]
    lines += [f"- {_wave(row)}: **{row['deviation (%)']:+.2g} %**." for _, row in table[~good].iterrows()]
    worst = table["from theory (%)"].abs().max()
    held = "agree with it" if worst <= 100 * _THEORY else "**do not agree with it**"
    lines.append(f"- From what the scheme should give they differ by at most {worst:.1g} %: they {held}.")
    return "\n".join(lines)


def _wave(row) -> str:
    along = "x" if row["direction"] == "x" else "the diagonal"
    return (
        f"Along {along}, {row['cells a wavelength']} cells a wavelength, $\\omega_p\\Delta t$ = {row['omega_p dt']:g}"
    )


def energy_text(cold: pd.DataFrame, warm: pd.DataFrame) -> str:
    """Who keeps the energy, from `waves.energy_table` and `loop.warm_table`."""
    lines = []
    for _, row in cold.iterrows():
        lines.append(
            f"- Cold wave, electrons swing by {row['swing (cells)']:g} cells, {row['precision']} precision: "
            f"{_kept(row['drift'], of_what='mean energy over a period')} in {row['periods']:.0f} periods."
        )
    for _, row in warm.iterrows():
        lines.append(
            f"- Warm plasma, {row['particles a cell']:g} particles a cell: {_kept(row['energy'])} in "
            f"{row['periods']:.0f} periods, and the sum of momenta changes by {100 * row['momentum']:.1g} % of the sum "
            f"of their sizes."
        )
    return "\n".join(lines)


def _kept(change: float, of_what: str = "energy") -> str:
    side = "within" if change <= ENERGY_DRIFT else "**not within**"
    return f"the {of_what} is off by {change:.2g} at most, {side} {ENERGY_DRIFT:g}"


def charge_text(table: pd.DataFrame) -> str:
    """Whether charge and Gauss' law are kept, from `loop.charges`."""
    lines = []
    for precision, rows in table.groupby("precision", sort=False):
        last, worst = rows.iloc[-1], rows[["continuity", "gauss"]].max()
        side = "rounding" if kept(rows) else "**more than rounding**"
        lines.append(
            f"- {precision.capitalize()} precision: continuity is off by at most {worst['continuity']:.2g} in a step "
            f"and Gauss' law by {worst['gauss']:.2g} in {last['step']} steps, {side} (a step may leave "
            f"{last['limit']:.2g}, so many {walk(rows).iloc[-1]:.2g}); {last['absorbed']:,} particles were absorbed "
            f"meanwhile, and {last['count']:,} are left."
        )
    return "\n".join(lines)


def bits_text(table: pd.DataFrame) -> str:
    """Whether all devices have the same bits, from `loop.bits`."""
    different = int(table["different"].sum())
    same = "all are the same to the last bit" if not different else f"**{different:,} differ**"
    reference, *others = table["device"].unique()
    count = table.loc[table["device"] != reference, "numbers"].sum()
    return f"{count:,} numbers of particles and fields, on {', '.join(others)} against {reference}: {same}."


def _energies(cold: pd.DataFrame, warm: pd.DataFrame) -> dict[str, bool]:
    """What should keep its energy, and whether it does."""
    swing = cold["swing (cells)"]
    named = {"a wave in which no electron meets a face": swing.min(), "a larger wave": swing.max()}
    found = {
        f"the mean energy over a period of {name}": cold.loc[swing == size, "drift"].max()
        for name, size in named.items()
    }
    for _, row in warm.iterrows():
        found[f"the energy of the warm plasma with {row['particles a cell']:g} particles a cell"] = row["energy"]
    return {name: change <= ENERGY_DRIFT for name, change in found.items()}


def _oblique(waves: pd.DataFrame, limit: float) -> dict[str, bool]:
    """On how many cells a wavelength oblique waves have the plasma frequency within `limit` per cent, and where not."""
    found = {}
    for good, rows in waves.groupby(waves["deviation (%)"].abs() <= limit):
        each = ", ".join(f"{row['cells a wavelength']} ({row['deviation (%)']:+.2g} %)" for _, row in rows.iterrows())
        found[f"the plasma frequency of oblique waves within {limit:g} % on cells a wavelength: {each}"] = bool(good)
    return found


def verdict(frequency, cold, warm, charge, bits, rate: float) -> str:
    """What is as it should be and what is not, of all tables and the growth rate over theory's."""
    along = frequency[frequency["direction"] == "x"]["deviation (%)"].abs().max()
    oblique, limit = frequency[frequency["direction"] != "x"], 100 * FREQUENCY_ERROR
    tests = {
        f"the plasma frequency of waves along an axis within {limit:g} % ({along:.2g} %)": along <= limit,
        **_oblique(oblique, limit),
        "all frequencies as the scheme's theory has them": frequency["from theory (%)"].abs().max() <= 100 * _THEORY,
        **_energies(cold, warm),
        "continuity and Gauss' law, with births and walls": all(kept(rows) for _, rows in charge.groupby("precision")),
        "the same bits on all devices": not bits["different"].any(),
        f"the growth rate of two streams within {100 * _GROWTH:g} % ({100 * (rate - 1):+.2g} %)": abs(rate - 1)
        <= _GROWTH,
    }
    sides = {kept: [name for name, holds in tests.items() if bool(holds) is kept] for kept in (True, False)}
    lines = [f"- As it should be: {'; '.join(sides[True]) or 'nothing'}."]
    lines += [f"- **Not as it should be**: {'; '.join(sides[False])}."] if sides[False] else []
    return "\n".join(lines)
