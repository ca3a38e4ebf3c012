"""Figures of the notebook on the neighbour search.

Each function returns (figure, arrays): the arrays are the numbers that the figure shows, by name.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from repro.papers.style import BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILLION, YELLOW
from repro.particles.cells import ALL_CELLS

from .neighbours import COLUMNS, EXAMPLE, ROWS, Example

#: of cells 1 to 6
_COLOURS = (ORANGE, SKY_BLUE, GREEN, YELLOW, VERMILLION, PURPLE)


def example(result: Example):
    """Figures 4 and 5: seven particles in six cells, the arrays before and after the sort, and the first index."""
    figure, (grid, arrays) = plt.subplots(1, 2, figsize=(9.6, 3.9), width_ratios=(1.25, 1.6))
    _draw_grid(grid, result.cell)
    arrays.set(xlim=(-0.5, 8.6), ylim=(7.6, -1.6))
    arrays.axis("off")
    before, after = np.arange(len(result.cell)), result.members
    for left, title, order in ((0, "(a) before", before), (3.2, "(b) after the sort", after)):
        _draw_pairs(arrays, left, title, order, result.cell[order])
    _draw_starts(arrays, 7, result.starts)
    return figure, {"position": EXAMPLE, **result._asdict()}


def _draw_grid(axes, cell) -> None:
    for k in range(ROWS * COLUMNS):
        row, column = divmod(k, COLUMNS)
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor=_COLOURS[k], alpha=0.25, edgecolor="0.4"))
        axes.text(column + 0.04, row + 0.04, f"cell {k + 1}", va="top", fontsize=8, color="0.35")
    for number, ((x, y), c) in enumerate(zip(EXAMPLE, cell, strict=True)):
        axes.plot(x, y, "o", ms=16, mfc=_COLOURS[c - 1], mec="0.3")
        axes.text(x, y, str(number), ha="center", va="center", fontsize=9)
    axes.set(xlim=(0, COLUMNS), ylim=(ROWS, 0), xticks=range(COLUMNS + 1), yticks=range(ROWS + 1), aspect="equal")
    axes.set(xlabel="column (cell widths)", ylabel="row (cell widths)")
    axes.set_title("particles on the background grid (figure 4)")
    axes.grid(False)


def _box(axes, x, y, text, colour) -> None:
    axes.add_patch(Rectangle((x, y), 1, 0.9, facecolor=colour, alpha=0.35, edgecolor="0.4"))
    axes.text(x + 0.5, y + 0.45, str(text), ha="center", va="center", fontsize=9)


def _draw_pairs(axes, left, title, particles, cells) -> None:
    axes.text(left + 1, -1.3, title, ha="center", fontsize=9)
    for k, name in enumerate(("particle", "cell")):
        axes.text(left + k + 0.5, -0.2, name, ha="center", fontsize=7.5, color="0.35")
    for place, (particle, c) in enumerate(zip(particles, cells, strict=True)):
        axes.text(left - 0.12, place + 0.45, str(place), ha="right", va="center", fontsize=7, color="0.5")
        _box(axes, left, place, particle, _COLOURS[c - 1])
        _box(axes, left + 1, place, c, _COLOURS[c - 1])


def _draw_starts(axes, left, starts) -> None:
    axes.text(left + 0.6, -1.3, "(c) first index", ha="center", fontsize=9)
    for k, start in enumerate(starts):
        last = k == len(starts) - 1
        _box(axes, left, k, start, "0.8" if last else _COLOURS[k])
        axes.text(left + 1.1, k + 0.45, "end" if last else f"cell {k + 1}", va="center", fontsize=8)
        # from the entry to the place in (b) that it names
        style = {"arrowstyle": "->", "color": "0.5", "lw": 0.8, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (5.25, start + 0.1), (left - 0.05, k + 0.45), arrowprops=style)


def candidates(table: pd.DataFrame):
    """Candidates that a search looks at and neighbours among them, from `neighbours.candidate_table`."""
    figure, axes = plt.subplots(figsize=(6.4, 3.4))
    place = np.arange(len(table))
    words = {"candidates": f"candidates in {ALL_CELLS} cells", "neighbours": "neighbours within the support"}
    for shift, colour, (name, label) in zip((-0.2, 0.2), (SKY_BLUE, BLUE), words.items(), strict=True):
        axes.bar_label(axes.bar(place + shift, table[name], 0.38, color=colour, label=label), fmt="%.0f", fontsize=9)
    axes.set_xticks(place, [f"{ratio:g}" for ratio in table["ratio"]])
    axes.set(xlabel="smoothing length over spacing", ylabel="particles around one particle")
    figure.legend(loc="outside lower center", ncols=2)
    axes.grid(axis="x", visible=False)
    return figure, dict(table[["ratio", "candidates", "neighbours"]])


def empty_cells(table: pd.DataFrame):
    """Time of the sort and of the first-index array over the cells a particle, from `neighbours.empty_cells`."""
    figure, axes = plt.subplots()
    cells = table["cells"] / table["particles"]
    for name, colour, marker in (("sort (us)", BLUE, "o"), ("first index (us)", VERMILLION, "s")):
        axes.plot(cells, table[name], color=colour, marker=marker, label=name.removesuffix(" (us)"))
    axes.set(xlabel="cells a particle", ylabel="time to build the table (µs)", xlim=(0, None), ylim=(0, None))
    axes.set_title(f"{table['particles'].iloc[0]:,} particles")
    figure.legend(loc="outside lower center", ncols=2)
    return figure, {"cells a particle": cells, **table[["sort (us)", "first index (us)"]]}


def sorts(table: pd.DataFrame):
    """Time of each sort over the number of particles, from `neighbours.sort_table`."""
    figure, axes = plt.subplots()
    names = [name for name in table if name.endswith(" (us)")]
    for name, colour, marker in zip(names, (BLUE, VERMILLION, GREEN), ("o", "s", "^"), strict=True):
        ns = table[name] / table["particles"] * 1e3
        axes.plot(table["particles"], ns, color=colour, marker=marker, label=name[:-5])
    axes.set(xscale="log", yscale="log", xlabel="particles", ylabel="time of the sort over the particles (ns)")
    figure.legend(loc="outside lower center", ncols=3)
    return figure, dict(table[["particles", *names]])
