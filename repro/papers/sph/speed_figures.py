"""Figures of the speed notebook; `paper` holds the keywords of the project's style for a paper's points.

Each function returns (figure, arrays): the arrays are the numbers that the figure shows, by name.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILLION
from repro.sph.benchmark import FORCE, GROUPS, NEIGHBOUR_LIST, UPDATE

from .speed import COLUMNS, FOUR_THREADS, GPU_LIST, ONE_CORE, PAPER, RUNS, RUNS_ON_CORES, group_times

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


def part_bars(parts: pd.DataFrame, published: pd.DataFrame):
    """Shares of a step: neighbour list, force and update of ours above the paper's (table 2), labelled with ms."""
    rows = []
    for way, ours in group_times(parts).iterrows():
        rows += [(f"{way}, here", ours), (f"{way}, paper", published.loc[way])]
    figure, axes = plt.subplots(figsize=(7.6, 0.45 * len(rows) + 1.5))
    left = np.zeros(len(rows))
    for group in GROUPS:
        share = np.array([100 * row[group] / row.sum() for _, row in rows])
        bars = axes.barh(range(len(rows)), share, 0.7, left, color=_GROUP_COLOURS[group], label=group)
        texts = [f"{row[group]:.3g}" if part > 6 else "" for (_, row), part in zip(rows, share, strict=True)]
        axes.bar_label(bars, texts, label_type="center", fontsize=8)
        left += share
    axes.set_yticks(range(len(rows)), [f"{name}: {row.sum():.3g} ms" for name, row in rows])
    axes.invert_yaxis()
    axes.set(xlabel="share of a step (%); numbers are milliseconds", xlim=(0, 100))
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside upper center", ncols=len(GROUPS))
    return figure, {"program": [name for name, _ in rows], **{g: [row[g] for _, row in rows] for g in GROUPS}}


def production(table: pd.DataFrame):
    """Million steps of a fluid particle a second over the number of fluid particles, one search."""
    figure, axes = plt.subplots()
    axes.plot(table["particles"], table["million/s"], color=SKY_BLUE, marker="X")
    axes.set(xscale="log", xlabel="fluid particles", ylabel="million particle steps a second", ylim=(0, None))
    axes.set_title(f"{table['strategy'].iloc[0]}, {table['hardware'].iloc[0]}")
    return figure, dict(table[["particles", "million/s"]])
