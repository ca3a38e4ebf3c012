"""Figures of the notebook on cell lists. `paper` is a keyword dictionary of the project's plotting style."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLUE, SKY_BLUE, VERMILLION

from .contents import LINKED, SORTED, TABLE
from .speed import ORDERED, RANDOM

_COLOURS = {LINKED: "0.45", TABLE: BLUE, SORTED: VERMILLION}
_MARKERS = {LINKED: "o", TABLE: "s", SORTED: "^"}
_LINES = {RANDOM: "-", ORDERED: "--"}

#: time of the update by particles (section 4.1), seconds
PAPER_UPDATES = {65536: 31e-6, 524288: 278e-6}


def example(position: np.ndarray):
    """Numbered particles in nine cells of one cutoff radius (our figure 1)."""
    figure, axes = plt.subplots(figsize=(4.4, 4.2))
    for k in range(9):
        axes.text(k % 3 + 0.04, k // 3 + 0.97, f"cell {k}", va="top", color="0.5", fontsize=8)
    for number, (x, y, _) in enumerate(position):
        axes.plot(x, y, "o", ms=15, mfc=SKY_BLUE, mec=BLUE)
        axes.text(x, y, str(number), ha="center", va="center", fontsize=8)
    axes.set(xlim=(0, 3), ylim=(0, 3), xticks=range(4), yticks=range(4), aspect="equal")
    axes.set(xlabel="x ($r_c$)", ylabel="y ($r_c$)")
    return figure


def rates(table: pd.DataFrame, paper: dict):
    """Particles a second of each list and order over the number of particles, with the paper's two points."""
    figure, axes = plt.subplots()
    for (name, device, order), rows in table.groupby(["list", "device", "order"], sort=False):
        style = {"color": _COLOURS[name], "marker": _MARKERS[name], "ls": _LINES[order]}
        axes.loglog(rows["particles"], rows["rate"], **style, label=f"{name}, {device}, {order}")
    counts = np.array(list(PAPER_UPDATES))
    axes.loglog(counts, counts / list(PAPER_UPDATES.values()), **paper, label="paper, table, K20c")
    axes.set(xlabel="particles", ylabel="particles a second")
    figure.legend(loc="outside right upper")
    figure.set_size_inches(8.4, 4.0)
    return figure


def bars(parts: pd.DataFrame, particles: int):
    """Time of each part of a list, in microseconds, for each list and order at one size."""
    rows = parts[parts["particles"] == particles]
    groups = list(rows.groupby(["list", "device", "order"], sort=False))
    figure, axes = plt.subplots(figsize=(7.6, 0.5 * len(groups) + 1.4))
    for k, ((name, _, _), each) in enumerate(groups):
        left = 0.0
        for shade, row in zip((0.35, 0.5, 0.65, 0.8, 0.95), each.to_dict("records"), strict=False):
            width = 1e6 * row["seconds"]
            axes.barh(k, width, 0.7, left, color=_COLOURS[name], alpha=shade, edgecolor="white")
            left += width
        axes.text(
            left, k, f"  {left:,.{0 if left >= 100 else 1}f} us: " + ", ".join(each["part"]), va="center", fontsize=8
        )
    axes.set_yticks(range(len(groups)), [f"{name}, {device}, {order}" for (name, device, order), _ in groups])
    axes.invert_yaxis()
    axes.set_xlim(0, 2.1 * axes.get_xlim()[1])
    axes.set(xlabel="time of one list (us), its parts from left to right", title=f"{particles} particles")
    axes.grid(axis="y", visible=False)
    return figure


def contention(table: pd.DataFrame):
    """Atomic additions a second against the number of particles in a cell, by the order of the particles."""
    figure, axes = plt.subplots()
    for (order, rows), colour in zip(table.groupby("order", sort=False), (BLUE, VERMILLION), strict=True):
        style = {"color": colour, "marker": "o" if order == RANDOM else "s"}
        axes.loglog(rows["particles a cell"], rows["additions a second"], **style, label=f"{order} order")
    low, high = table["additions a second"].min(), table["additions a second"].max()
    # at least a decade, so that scatter looks like scatter
    axes.set(xlabel="particles in a cell", ylabel="atomic additions a second", ylim=(low / 2, max(2 * high, 10 * low)))
    axes.legend()
    return figure
