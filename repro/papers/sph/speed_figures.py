"""Figures of the speed notebook; `paper` holds the keywords of the project's style for a paper's points.

Each function returns (figure, arrays): the arrays are the numbers that the figure shows, by name.
"""

import matplotlib.pyplot as plt
import pandas as pd

from repro.papers import speed
from repro.papers.style import BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILLION

from .speed import (
    COLUMNS,
    FORCE,
    FOUR_THREADS,
    GPU_LIST,
    GROUPS,
    NEIGHBOUR_LIST,
    ONE_CORE,
    PAPER,
    SORTED_CELLS,
    SORTED_ON_CORES,
    UPDATE,
    group_times,
)

_LOOKS = {
    PAPER: {"color": BLUE, "marker": "o"},
    GPU_LIST: {"color": VERMILLION, "marker": "s"},
    FOUR_THREADS: {"color": GREEN, "marker": "^"},
    ONE_CORE: {"color": ORANGE, "marker": "D"},
    SORTED_CELLS: {"color": SKY_BLUE, "marker": "X"},
    SORTED_ON_CORES: {"color": PURPLE, "marker": "P"},
}

_GROUP_COLOURS = {NEIGHBOUR_LIST: SKY_BLUE, FORCE: ORANGE, UPDATE: PURPLE}


def times(table: pd.DataFrame, published: pd.DataFrame, paper: dict):
    """Time of a step of every program over the number of particles, and the paper's (table 1)."""
    figure, axes = plt.subplots(figsize=(7.6, 5.6))
    for way, rows in table.groupby("way", sort=False):
        axes.plot(rows["thousands"], rows["ms"], **_LOOKS[way], label=f"{way}: {rows['hardware'].iloc[0]}")
    for way, row in published.iterrows():
        look = paper | {"marker": _LOOKS[way]["marker"], "markersize": 7}
        axes.plot(row.index, row, **look, label=f"paper, {way}")
    axes.set(xscale="log", yscale="log", xlabel="particles as the paper counts them (thousands)")
    axes.set_ylabel("time of a step (ms)")
    axes.set_xticks(list(COLUMNS), list(map(str, COLUMNS)))
    axes.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2)
    return figure, dict(table[["thousands", "way", "ms"]])


def part_bars(parts: pd.DataFrame, published: pd.DataFrame):
    """Neighbour list, force and update of each program as bars, with the paper's times as points (table 2)."""
    own = group_times(parts)
    bars = [(way, group, own.loc[way, group]) for way in own.index for group in GROUPS]
    points = [published.loc[way, group] for way, group, _ in bars]
    figure = speed.part_bars(bars, _GROUP_COLOURS, "time in a step (ms)", points=points)
    return figure, dict(zip(("program", "part", "ms"), zip(*bars, strict=True), strict=True))


def production(table: pd.DataFrame):
    """Million steps of a fluid particle a second over the number of fluid particles, one search."""
    figure, axes = plt.subplots()
    axes.plot(table["particles"], table["million/s"], color=SKY_BLUE, marker="X")
    axes.set(xscale="log", xlabel="fluid particles", ylabel="million particle steps a second", ylim=(0, None))
    axes.set_title(f"{table['strategy'].iloc[0]}, {table['hardware'].iloc[0]}")
    return figure, dict(table[["particles", "million/s"]])
