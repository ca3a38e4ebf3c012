"""Figures of the speed notebook; `paper` holds the keywords of the project's style for a paper's points.

Each function returns (figure, arrays): the arrays are the numbers that the figure shows, by name.
"""

import matplotlib.pyplot as plt
import pandas as pd

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
    RUNS,
    RUNS_ON_CORES,
    UPDATE,
    group_times,
)

_LOOKS = {
    PAPER: (BLUE, "o"),
    GPU_LIST: (VERMILLION, "s"),
    FOUR_THREADS: (GREEN, "^"),
    ONE_CORE: (ORANGE, "D"),
    RUNS: (SKY_BLUE, "X"),
    RUNS_ON_CORES: (PURPLE, "P"),
}

_GROUP_COLOURS = {NEIGHBOUR_LIST: SKY_BLUE, FORCE: ORANGE, UPDATE: PURPLE}


def times(table: pd.DataFrame, published: pd.DataFrame, paper: dict):
    """Time of a step of every program over the number of particles, and the paper's (table 1)."""
    figure, axes = plt.subplots(figsize=(7.6, 5.6))
    for way, rows in table.groupby("way", sort=False):
        colour, marker = _LOOKS[way]
        label = f"{way}: {rows['hardware'].iloc[0]}"
        axes.plot(rows["thousands"], rows["ms"], color=colour, marker=marker, label=label)
    for way, row in published.iterrows():
        look = paper | {"marker": _LOOKS[way][1], "markersize": 7}
        axes.plot(row.index, row, **look, label=f"paper, {way}")
    axes.set(xscale="log", yscale="log", xlabel="particles as the paper counts them (thousands)")
    axes.set_ylabel("time of a step (ms)")
    axes.set_xticks(list(COLUMNS), list(map(str, COLUMNS)))
    axes.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2)
    return figure, dict(table[["thousands", "way", "ms"]])


def part_bars(parts: pd.DataFrame, published: pd.DataFrame, paper: dict):
    """Neighbour list, force and update of each program as bars, with the paper's times as points (table 2)."""
    ours = group_times(parts)
    places = [(way, group) for way in ours.index for group in GROUPS]
    heights = [k + 1.2 * (k // len(GROUPS)) for k in range(len(places))]
    figure, axes = plt.subplots(figsize=(7.6, 0.28 * heights[-1] + 1.9))
    times = [ours.loc[place] for place in places]
    printed = [published.loc[place] for place in places]
    axes.barh(heights, times, 0.8, color=[_GROUP_COLOURS[group] for _, group in places])
    for height, ours_ms, paper_ms in zip(heights, times, printed, strict=True):
        label = f"{ours_ms:,.0f}" if ours_ms >= 100 else f"{ours_ms:.2g}"
        # a point of the paper's that would lie on the label stands before it
        place = max(ours_ms, paper_ms) if paper_ms < 2.5 * ours_ms else ours_ms
        axes.annotate(label, (place, height), (6, 0), textcoords="offset points", va="center", fontsize=8)
    axes.plot(printed, heights, **paper)
    for height, (way, group) in zip(heights, places, strict=True):
        if group == GROUPS[0]:
            axes.annotate(way, (0, height - 1), (4, 0), ("axes fraction", "data"), "offset points", va="center")
    axes.set(xscale="log", xlim=(min(times) / 3, 4 * max(*times, *printed)), ylim=(heights[-1] + 0.8, -1.7))
    axes.set(yticks=[], xlabel="time in a step (ms)")
    axes.grid(axis="y", visible=False)
    handles = [plt.Rectangle((0, 0), 1, 1, color=_GROUP_COLOURS[group]) for group in GROUPS]
    figure.legend([*handles, plt.Line2D([], [], **paper)], [*GROUPS, "paper"], loc="outside lower center", ncols=4)
    return figure, {"program": [way for way, _ in places], "part": [g for _, g in places], "ms": times}


def production(table: pd.DataFrame):
    """Million steps of a fluid particle a second over the number of fluid particles, one search."""
    figure, axes = plt.subplots()
    axes.plot(table["particles"], table["million/s"], color=SKY_BLUE, marker="X")
    axes.set(xscale="log", xlabel="fluid particles", ylabel="million particle steps a second", ylim=(0, None))
    axes.set_title(f"{table['strategy'].iloc[0]}, {table['hardware'].iloc[0]}")
    return figure, dict(table[["particles", "million/s"]])
