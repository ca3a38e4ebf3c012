"""Published speedups beside those measured in a run, of all papers on one axis."""

import re
from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from .style import BLUE, PAPER, use_style

HEIGHT = 0.3
"""Inches of the figure a speedup."""
WIDTH = 56
"""Characters of a line of a label."""


def speedups(claims: pd.DataFrame) -> pd.DataFrame:
    """The speedups among judged `claims` (the columns of a scoreboard), with `published` and `here`, by paper."""
    rows = claims[(claims["kind"] == "speed") & (claims["unit"] == "x") & claims["ratio"].notna()]
    return rows.assign(here=rows["published"].astype(float) * rows["ratio"].astype(float))


def chart(rows: pd.DataFrame):
    """A line a speedup from the published number, or the nearer end of a range, to ours; returns (figure, arrays)."""
    use_style()
    published, here = (rows[name].to_numpy(float) for name in ("published", "here"))
    place = np.arange(len(rows))[::-1]
    figure, axes = plt.subplots(figsize=(8.2, 1.2 + HEIGHT * len(rows)))
    axes.hlines(place, published, here, color="0.75", linewidth=1.2, zorder=1)
    axes.plot(here, place, "o", color=BLUE, zorder=2, label="here, over the same kind of program")
    axes.plot(published, place, **PAPER, label="published")
    axes.axvline(1, color="0.5", linewidth=0.8)
    axes.set(xscale="log", xlabel="speedup", ylim=(-0.7, len(rows) - 0.3))
    axes.set_yticks(place, [_label(row) for row in rows.to_dict("records")], fontsize=8)
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure, {"published": published, "here": here}


def _label(row: dict) -> str:
    """Id, and what the speedup is of, with powers as they are written."""
    what = row["quantity"].replace("speedup", "").strip(" ,")
    label = f"{row['id']}  " + ", ".join(text for text in (what, row["case"]) if text)
    return re.sub(r"(\d+)\^(\d+)", r"$\1^\2$", "\n".join(wrap(label, WIDTH)))
