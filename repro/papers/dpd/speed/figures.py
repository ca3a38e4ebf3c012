"""Figures of the speed notebook.

Those of measured numbers return (figure, arrays), the arrays being the numbers that they show, by name.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from repro.papers.style import BLACK, BLUE, GREEN, ORANGE, PAPER, PURPLE, SKY_BLUE, VERMILLION, YELLOW

from .tables import ALL_CORES, ONE_CORE, PAPER_PROGRAM

_LOOKS = {
    PAPER_PROGRAM: (BLACK, "o", ":"),
    ONE_CORE: (ORANGE, "s", ":"),
    ALL_CORES: (VERMILLION, "^", ":"),
    "thread per cell": (BLUE, "D", "-"),
    "thread per particle": (GREEN, "v", "-"),
    "thread per particle, full stencil": (PURPLE, "P", "-"),
    "sorted cells": (SKY_BLUE, "X", "-"),
}

#: the paper's columns, and the marker of its points
_PAPER_RATES = {"one core": "o", "thread per cell": "D", "thread per particle": "v"}
_PAPER_SPEEDUPS = {"speedup, cell": "D", "speedup, particle": "v"}

_GROUP_COLOURS = {
    "lists": SKY_BLUE,
    "clear and round off": PURPLE,
    "forces": ORANGE,
    "hand back": GREEN,
    "integration": BLUE,
}


def rates(table: pd.DataFrame, published: pd.DataFrame):
    """Particle updates a second of every way over the number of particles, and the paper's (table 4)."""
    figure, axes = plt.subplots(figsize=(7.6, 5.6))
    _draw_ways(axes, table, "updates")
    _draw_paper(axes, published, _PAPER_RATES)
    axes.set(xscale="log", yscale="log", xlabel="particles", ylabel="particle updates per second")
    figure.legend(loc="outside lower center", ncols=2)
    arrays = {f"{way} updates": group["updates"] for way, group in table.groupby("way")}
    return figure, arrays | {"particles": table["particles"].drop_duplicates()}


def speedups(table: pd.DataFrame, published: pd.DataFrame):
    """Speedup of every way over the serial program, and the paper's over its own on its core (table 4)."""
    figure, axes = plt.subplots(figsize=(7.6, 5.0))
    column = f"over {PAPER_PROGRAM}"
    _draw_ways(axes, table[table["way"] != PAPER_PROGRAM], column)
    _draw_paper(axes, published, _PAPER_SPEEDUPS)
    axes.axhline(1, color="0.5", linewidth=1, marker="none")
    axes.set(xscale="log", yscale="log", xlabel="particles", ylabel="speedup over the serial program")
    figure.legend(loc="outside lower center", ncols=2)
    return figure, dict(table[["way", "particles", column]])


def mapping_sketch(position: np.ndarray, side: int):
    """Which pairs one thread computes in each of the paper's mappings: the thread with the most (section 4.2).

    `position` of shape (count, 2) in a square of `side` cells a side. Pairs within the cutoff radius are lines, those
    of the thread are thick, and the cells that it visits are shaded: its own and the later half of those around it.
    """
    pairs = near_pairs(position, side)
    cell = cells_of(position, side)
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 4.3))
    for axes, name, thread in zip(panels, ("cell", "particle"), (cell, np.arange(len(position))), strict=True):
        owners = [thread[i] for i, _ in pairs]
        most = max(set(owners), key=owners.count)
        own = int(cell[np.flatnonzero(thread == most)[0]])
        for k in later_cells(own, side):
            axes.add_patch(plt.Rectangle((k % side, k // side), 1, 1, color=YELLOW, alpha=0.35, lw=0))
        for (i, j), owner in zip(pairs, owners, strict=True):
            style = {"color": VERMILLION, "lw": 2} if owner == most else {"color": "0.7", "lw": 0.8}
            axes.plot(*position[[i, j]].T, marker="none", zorder=1, **style)
        busiest = thread == most
        for chosen, colour in ((~busiest, "0.5"), (busiest, VERMILLION)):
            axes.plot(*position[chosen].T, "o", ms=6, color=colour, zorder=2)
        threads = side**2 if name == "cell" else len(position)
        axes.set_title(f"thread per {name}: {threads} threads,\none of them computes {owners.count(most)} pairs")
        axes.set(xlim=(0, side), ylim=(0, side), xticks=range(side + 1), yticks=range(side + 1), aspect="equal")
        axes.set(xlabel="x ($r_c$)", ylabel="y ($r_c$)")
    return figure


def cells_of(position: np.ndarray, side: int) -> np.ndarray:
    """The cell of each position of `mapping_sketch`, x fastest."""
    x, y = position.astype(int).T
    return x + side * y


def later_cells(cell: int, side: int) -> list[int]:
    """A cell and those around it that come later: half the stencil, without periodic edges."""
    x, y = cell % side, cell // side
    around = [(x + k % 3 - 1, y + k // 3 - 1) for k in range(4, 9)]
    return [cx + side * cy for cx, cy in around if 0 <= cx < side and cy < side]


def near_pairs(position: np.ndarray, side: int) -> list[tuple[int, int]]:
    """All pairs (i, j) within the cutoff radius, each once: j lies in a later cell than i, or later in the same."""
    cell = cells_of(position, side)
    near = cKDTree(position).query_pairs(1.0)
    return sorted((i, j) if cell[j] in later_cells(cell[i], side) else (j, i) for i, j in near)


def _draw_ways(axes, table: pd.DataFrame, column: str) -> None:
    for way, rows in table.groupby("way", sort=False):
        colour, marker, line = _LOOKS[way]
        axes.plot(rows["particles"], rows[column], color=colour, marker=marker, linestyle=line, label=way)


def _draw_paper(axes, published: pd.DataFrame, columns: dict) -> None:
    for column, marker in columns.items():
        name = column.replace("speedup, ", "thread per ")
        look = PAPER | {"marker": marker, "markersize": 7}
        axes.plot(published["particles"], published[column], **look, label=f"paper, {name}")


def part_bars(parts: pd.DataFrame, particles: int):
    """Time of the parts of a step: one bar per way."""
    times = 1e6 * parts.pivot_table(index="way", columns="group", values="seconds", aggfunc="sum", sort=False)
    figure, axes = plt.subplots(figsize=(7.6, 0.6 * len(times) + 1.8))
    shown = times.reindex(columns=list(_GROUP_COLOURS))
    shown.plot.barh(ax=axes, stacked=True, width=0.6, color=_GROUP_COLOURS, legend=False)
    for k, whole in enumerate(shown.sum(axis=1)):
        axes.text(whole, k, rf" {whole:,.0f} $\mu$s", va="center", fontsize=8)
    axes.invert_yaxis()
    axes.set(xlabel=r"time of a step ($\mu$s)", ylabel="", title=f"{particles} particles, single precision")
    axes.set_xlim(0, 1.15 * axes.get_xlim()[1])
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=5)
    return figure, dict(parts[["way", "part", "seconds"]])
