"""Figures of the speed notebook. `paper` holds the keywords of the project's style for a paper's points."""

from textwrap import fill

import matplotlib.pyplot as plt
import pandas as pd

from repro.papers.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILLION

from .tables import ALL_CORES, BASELINES, PAPER_PROGRAM, TEA_PROGRAM

_LOOKS = {
    PAPER_PROGRAM: (BLACK, "o", ":"),
    TEA_PROGRAM: ("0.5", "h", ":"),
    "planes, one core": (ORANGE, "s", ":"),
    ALL_CORES: (VERMILLION, "^", ":"),
    "thread per cell": (BLUE, "D", "-"),
    "thread per particle": (GREEN, "v", "-"),
    "thread per particle, full stencil": (PURPLE, "P", "-"),
    "runs of sorted particles": (SKY_BLUE, "X", "-"),
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


def rates(table: pd.DataFrame, published: pd.DataFrame, paper: dict):
    """Particle updates a second of every way over the number of particles, and the paper's (table 4)."""
    figure, axes = plt.subplots(figsize=(7.6, 5.6))
    _draw_ways(axes, table, "updates")
    _draw_paper(axes, published, _PAPER_RATES, paper)
    axes.set(xscale="log", yscale="log", xlabel="particles", ylabel="particle updates per second")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def speedups(table: pd.DataFrame, published: pd.DataFrame, paper: dict):
    """Speedup over each baseline, a panel for each; the paper's are over its own program on its core."""
    figure, grid = plt.subplots(2, 2, figsize=(9.2, 8.4), sharex=True, sharey=True)
    panels = grid.ravel()
    for axes, baseline in zip(panels, BASELINES, strict=True):
        _draw_ways(axes, table[table["way"] != baseline], f"over {baseline}")
        axes.axhline(1, color="0.5", linewidth=1)
        axes.set(xscale="log", yscale="log", title=fill(f"over {baseline}", 40))
    _draw_paper(panels[0], published, _PAPER_SPEEDUPS, paper)
    for axes in grid[:, 0]:
        axes.set_ylabel("speedup")
    for axes in grid[1]:
        axes.set_xlabel("particles")
    entries = {}
    for axes in panels[::-1]:
        entries |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=2)
    return figure


def _draw_ways(axes, table: pd.DataFrame, column: str) -> None:
    for way, rows in table.groupby("way", sort=False):
        colour, marker, line = _LOOKS[way]
        axes.plot(rows["particles"], rows[column], color=colour, marker=marker, linestyle=line, label=way)


def _draw_paper(axes, published: pd.DataFrame, columns: dict, paper: dict) -> None:
    for column, marker in columns.items():
        name = column.replace("speedup, ", "thread per ")
        look = paper | {"marker": marker, "markersize": 7}
        axes.plot(published["particles"], published[column], **look, label=f"paper, {name}")


def part_bars(parts: pd.DataFrame, particles: int):
    """Time of the parts of a step: one bar per way."""
    ways = list(dict.fromkeys(parts["way"]))
    figure, axes = plt.subplots(figsize=(7.6, 0.6 * len(ways) + 1.8))
    for k, way in enumerate(ways):
        left = 0.0
        for group, colour in _GROUP_COLOURS.items():
            width = 1e6 * float(parts.loc[(parts["way"] == way) & (parts["group"] == group), "seconds"].sum())
            axes.barh(k, width, 0.6, left, color=colour)
            left += width
        axes.text(left, k, f" {left:.0f} us", va="center", fontsize=8)
    axes.set_yticks(range(len(ways)), ways)
    axes.invert_yaxis()
    axes.set(xlabel="time of a step (us)", title=f"{particles} particles, single precision")
    axes.set_xlim(0, 1.15 * axes.get_xlim()[1])
    axes.grid(axis="y", visible=False)
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in _GROUP_COLOURS.values()]
    figure.legend(handles, _GROUP_COLOURS, loc="outside lower center", ncols=5)
    return figure
