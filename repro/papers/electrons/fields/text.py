"""Sentences of the notebook on the fields, as Markdown, with their numbers."""

import numpy as np
import pandas as pd

from .reflection import JUDGED, LARGEST

#: by how much a frequency may be off the dispersion relation, of it, and count as exact
FREQUENCY_ERROR = 1e-6


def dispersion_text(table: pd.DataFrame) -> str:
    """How slow waves are, and how well their frequencies are those of theory."""
    slow = 100 * (1 - table.groupby("wavelength")["measured"].min())
    shown = ", ".join(f"{value:.2g} % with {cells} cells a wave" for cells, value in slow.items())
    return (
        f"Waves along an axis are the slowest: they lag behind light by {shown}. Frequencies differ from the "
        f"dispersion relation by at most **{table['error'].abs().max():.1e}** of it."
    )


def reflection_text(table: pd.DataFrame) -> str:
    """The worst angle of each number of layers."""
    lines = []
    for layers, rows in table.groupby("layers"):
        worst = rows.loc[rows["reflection"].idxmax()]
        side = "below" if worst["reflection"] < LARGEST else "**not below**"
        lines.append(
            f"- {layers} layers send back at most **{worst['reflection']:.1f} dB** (at {worst['angle']:.0f} degrees), "
            f"{side} {LARGEST:g} dB."
        )
    return "\n".join(lines)


def continuity_text(errors: dict[str, np.ndarray], table: pd.DataFrame) -> str:
    """How exactly charge is conserved, one segment at a time and in sums."""
    lines = []
    for name, found in errors.items():
        rows = table[table["precision"] == name]
        lines.append(
            f"- In {name} precision a segment violates continuity by {np.median(found):.1e} of its charge as a rule "
            f"and by {found.max():.1e} at most; in sums of up to {rows['segments'].max():,} "
            f"segments the residual is at most **{rows['residual'].max():.1e}**."
        )
    return "\n".join(lines)


def verdict(waves: pd.DataFrame, layers: pd.DataFrame, charge: pd.DataFrame) -> str:
    """What is as it should be, and what is not."""
    off = waves["error"].abs().max()
    judged = layers[layers["layers"] >= JUDGED]["reflection"].max()
    tests = {f"frequencies within {FREQUENCY_ERROR:g} of theory ({off:.1e})": off <= FREQUENCY_ERROR}
    if np.isfinite(judged):
        tests[f"{JUDGED} layers or more send back less than {LARGEST:g} dB ({judged:.1f} dB)"] = judged < LARGEST
    for name, rows in charge.groupby("precision"):
        worst = rows.loc[(rows["residual"] / rows["limit"]).idxmax()]
        said = f"charge in {name} precision ({worst['residual']:.1e}, and at most {worst['limit']:.1e} may be lost)"
        tests[said] = worst["residual"] <= worst["limit"]
    sides = {kept: [name for name, holds in tests.items() if bool(holds) is kept] for kept in (True, False)}
    lines = [f"- As it should be: {'; '.join(sides[True]) or 'nothing'}."]
    lines += [f"- **Not as it should be**: {'; '.join(sides[False])}."] if sides[False] else []
    return "\n".join(lines)
