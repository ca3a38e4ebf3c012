"""Figures of the notebook on the GPU: which memory a warp touches, and how many warps fill it."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from repro.papers.style import BLUE, COLOURS, PAPER, VERMILLION

from .matrix_sum import RULE

#: threads of the warp that is drawn, and numbers of a line of memory: 32 of each on a GPU
_DRAWN = 8


def warp_access():
    """The entries of a matrix that one warp loads, and the lines of memory that this takes, in both orders."""
    figure, panels = plt.subplots(1, 2, figsize=(7.6, 3.7))
    touched = {
        "coalesced: thread x at [y][x]": [(x, 0) for x in range(_DRAWN)],
        "strided: thread x at [x][y]": [(0, x) for x in range(_DRAWN)],
    }
    counts, line = [], {"facecolor": "none", "edgecolor": VERMILLION, "lw": 2}
    for axes, (name, entries) in zip(panels, touched.items(), strict=True):
        lines = {row for _, row in entries}
        counts.append(len(lines))
        for place in np.ndindex(_DRAWN, _DRAWN):
            face = BLUE if place in entries else "white"
            axes.add_patch(Rectangle(place, 1, 1, facecolor=face, edgecolor="0.8", lw=0.8))
        for row in lines:
            axes.add_patch(Rectangle((0, row), _DRAWN, 1, **line))
        for thread, (column, row) in enumerate(entries):
            axes.text(column + 0.5, row + 0.5, str(thread), color="white", ha="center", va="center", fontsize=8)
        moved = f"{len(lines)} line{'s' * (len(lines) > 1)} of memory for {_DRAWN} numbers"
        axes.set(xlim=(-0.1, _DRAWN + 0.1), ylim=(_DRAWN + 0.1, -0.1), aspect="equal", title=f"{name}\n{moved}")
        axes.set(xticks=[], yticks=[], xlabel="column x (side by side in memory)", ylabel="row y")
        axes.spines[:].set_visible(False)
        axes.grid(False)
    handles = [Rectangle((0, 0), 1, 1, color=BLUE), Rectangle((0, 0), 1, 1, **line)]
    names = ["numbers of one warp, by thread", "lines that are moved"]
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    return figure, {"lines": counts}


def resident(table: pd.DataFrame, needed: float):
    """Share of the copy bandwidth over the warps a multiprocessor, for one and two blocks; from `resident_table`.

    `needed` are the warps that the latency of a C1060 takes; the thesis' rule is drawn beside.
    """
    figure, axes = plt.subplots(figsize=(6.2, 3.8))
    for (blocks, rows), colour in zip(table.groupby("blocks"), COLOURS, strict=False):
        name = "1 block" if blocks == 1 else f"{blocks} blocks"
        axes.plot(rows["warps"], 100 * rows["of copy"], color=colour, label=f"{name} a multiprocessor")
    rows = table.sort_values("warps")
    axes.plot(rows["warps"], 100 * rows["as one warp"], color="0.5", ls=":", marker="none", label="each as much as one")
    axes.plot([RULE[1]], [100], **PAPER, label="rule of section 3.4, for a C1060")
    axes.axvline(needed, color="0.5", lw=1, ls="--", label="warps that a C1060 needs")
    axes.set(xlabel="warps a multiprocessor", ylabel="share of the copy bandwidth (%)", ylim=(0, None))
    figure.legend(loc="outside lower center", ncols=2)
    return figure, {name: table[name] for name in ("blocks", "warps", "of copy", "as one warp")}
