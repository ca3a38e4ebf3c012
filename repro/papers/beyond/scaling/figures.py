"""Figures of the notebook on scaling; each function returns (figure, arrays), the arrays being the numbers it shows."""

import matplotlib.pyplot as plt
import pandas as pd

from repro.papers.style import look

from .runs import STRONG, WEAK


def kept(table: pd.DataFrame):
    """The share of the speed of one rank that each keeps, over the number of ranks: weak scaling left, strong right."""
    figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.8), sharey=True)
    for axes, kind in zip(panels, (WEAK, STRONG), strict=True):
        axes.axhline(100, color="0.5", linewidth=0.8)
        for k, (method, rows) in enumerate(table[table["kind"] == kind].groupby("method", sort=False)):
            axes.plot(rows["ranks"], rows["kept (%)"], **look(k), label=method)
        axes.set(title=f"{kind} scaling", xlabel="ranks", xticks=sorted(table["ranks"].unique()))
    panels[0].set(ylabel="speed a rank, over that of one (%)", ylim=(0, None))
    panels[0].legend()
    return figure, dict(table[["kind", "method", "ranks", "kept (%)"]])
