"""Figures of the notebook on cell lists."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLUE, PAPER, SKY_BLUE, VERMILLION, YELLOW

from .contents import LINKED, SORTED, TABLE
from .speed import RANDOM

_LOOKS = {LINKED: ("0.45", "o"), TABLE: (BLUE, "s"), SORTED: (VERMILLION, "^")}

#: time of the update by particles (section 4.1), seconds
PAPER_UPDATES = {65536: 31e-6, 524288: 278e-6}


def example(position: np.ndarray):
    """Numbered particles in nine cells of one cutoff radius (figure 1)."""
    figure, axes = plt.subplots(figsize=(4.4, 4.2))
    for k in range(9):
        axes.text(k % 3 + 0.04, k // 3 + 0.97, f"cell {k + 1}", va="top", color="0.5", fontsize=8)
    for number, (x, y, _) in enumerate(position, 1):
        axes.plot(x, y, "o", ms=15, mfc=SKY_BLUE, mec=BLUE)
        axes.text(x, y, str(number), ha="center", va="center", fontsize=8)
    axes.set(xlim=(0, 3), ylim=(0, 3), xticks=range(4), yticks=range(4), aspect="equal")
    axes.set(xlabel="x ($r_c$)", ylabel="y ($r_c$)")
    return figure


def rates(table: pd.DataFrame):
    """Particles a second of each list and order over the number of particles, with the paper's two points."""
    figure, axes = plt.subplots(figsize=(8.4, 4.0))
    for (name, device, order), rows in table.groupby(["list", "device", "order"], sort=False):
        style = dict(zip(("color", "marker"), _LOOKS[name], strict=True)) | {"ls": "-" if order == RANDOM else "--"}
        axes.loglog(rows["particles"], rows["rate"], **style, label=f"{name}, {device}, {order}")
    counts = np.array(list(PAPER_UPDATES))
    axes.loglog(counts, counts / list(PAPER_UPDATES.values()), **PAPER, label="paper, table, K20c")
    axes.set(xlabel="particles", ylabel="particles a second")
    figure.legend(loc="outside right upper")
    return figure


def reading(lists: dict[str, pd.DataFrame]):
    """The linked list (figure 2): from each cell to its last particle, and from each particle to the one before it."""
    heads, links = lists["array B"].iloc[0], lists["array A"].iloc[0]
    figure, axes = plt.subplots(figsize=(8.0, 2.9))
    for y, row, colour in ((1, heads, YELLOW), (0, links, SKY_BLUE)):
        for k, (label, value) in enumerate(row.items()):
            axes.add_patch(plt.Rectangle((k, y), 0.9, 0.32, facecolor=colour, edgecolor="0.3", alpha=0.6))
            axes.text(k + 0.45, y + 0.16, value or "", ha="center", va="center", fontsize=9)
            above = y + 0.36 if y else y - 0.05
            axes.text(k + 0.45, above, label, ha="center", va="bottom" if y else "top", fontsize=8, color="0.4")
    arrows = [(k, int(value), 1.0, 0.32, BLUE, 0.0) for k, value in enumerate(heads)]
    arrows += [(k, int(v), 0.0, 0.0, VERMILLION, -0.35 if k >= v else 0.35) for k, v in enumerate(links) if v]
    for k, value, start, end, colour, bend in arrows:
        style = {"arrowstyle": "->", "color": colour, "lw": 1.1, "connectionstyle": f"arc3,rad={bend}"}
        axes.annotate("", (value - 0.55, end), (k + 0.45, start), arrowprops=style)
    for y, label in ((1.16, "last"), (0.16, "before")):
        axes.text(-0.2, y, label, ha="right", va="center")
    axes.set(xlim=(-1.1, len(links)), ylim=(-0.85, 1.6))
    axes.axis("off")
    return figure
