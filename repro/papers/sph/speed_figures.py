"""Figures of the speed notebook; `paper` holds the keywords of the project's style for a paper's points.

Each function returns (figure, arrays): the arrays are the numbers that the figure shows, by name.
"""

import matplotlib.pyplot as plt
import pandas as pd

from repro.papers.speed import part_points as points_of_parts
from repro.papers.style import BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILLION, YELLOW

from . import speed

_LOOKS = {
    speed.PAPER: {"color": BLUE, "marker": "o"},
    speed.GPU_LIST: {"color": VERMILLION, "marker": "s"},
    speed.GLOBAL_SORT: {"color": YELLOW, "marker": "v"},
    speed.FOUR_THREADS: {"color": GREEN, "marker": "^"},
    speed.ONE_CORE: {"color": ORANGE, "marker": "D"},
    speed.SORTED_CELLS: {"color": SKY_BLUE, "marker": "X"},
    speed.SORTED_ON_CORES: {"color": PURPLE, "marker": "P"},
}

_GROUP_COLOURS = {speed.NEIGHBOUR_LIST: SKY_BLUE, speed.FORCE: ORANGE, speed.UPDATE: PURPLE}


def ladder(table: pd.DataFrame, plain_c: pd.Series | None):
    """Time of a step of each rung with its quartiles, and of plain C; from `speed.ladder_table` and `speed.plain_c`."""
    figure, axes = plt.subplots(figsize=(6.8, 0.5 * len(table) + 1.4))
    errors = [table["ms"] - table["from"], table["to"] - table["ms"]]
    axes.barh(table["rung"], table["ms"], color=BLUE, xerr=errors, error_kw={"elinewidth": 1, "capsize": 2})
    # not at the bars' ends, where plain C may stand
    axes.set_yticks(table["rung"], [f"{row.rung}, {row.ms:.3g} ms" for row in table.itertuples()])
    arrays = {"ms": table["ms"]}
    if plain_c is not None:
        arrays["plain C"] = plain_c[["linked list", "each pair once"]].to_numpy(float)
        axes.plot(arrays["plain C"], ["linked list", "each pair once"], "D", color=ORANGE, label="plain C, least")
        figure.legend(loc="outside lower center")
    axes.invert_yaxis()
    axes.set(xlabel="time of a step (ms)", xlim=(0, 1.25 * axes.dataLim.xmax))
    axes.grid(axis="y", visible=False)
    return figure, arrays


def times(table: pd.DataFrame, published: pd.DataFrame, paper: dict):
    """Time of a step of every program over the number of particles, and the paper's (table 1)."""
    figure, axes = plt.subplots(figsize=(7.6, 5.6))
    for way, rows in table.groupby("way", sort=False):
        axes.plot(rows["thousands"], rows["ms"], **_LOOKS[way], label=f"{way}: {rows['hardware'].iloc[0]}")
    for way, row in published.iterrows():
        look = paper | {"marker": _LOOKS[way]["marker"], "markersize": 7}
        axes.plot(row.index, row, **look, label=f"paper, {way}")
    axes.set(xscale="log", yscale="log", xlabel="particles of fluid and ghosts (thousands)")
    axes.set_ylabel("time of a step (ms)")
    axes.set_xticks(list(speed.COLUMNS), list(map(str, speed.COLUMNS)))
    axes.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2)
    return figure, dict(table[["thousands", "way", "ms"]])


def part_points(parts: pd.DataFrame, published: pd.DataFrame):
    """Neighbour list, force and update of each program, and the paper's times of them (table 2)."""
    own = speed.with_density(speed.group_times(parts))
    shown = [(way, group, own.loc[way, group]) for way in own.index for group in speed.GROUPS]
    theirs = [published.loc[way, group] for way, group, _ in shown]
    figure = points_of_parts(shown, _GROUP_COLOURS, "time in a step (ms)", published=theirs)
    return figure, dict(zip(("program", "part", "ms"), zip(*shown, strict=True), strict=True))


def loaded(table: pd.DataFrame):
    """Million steps of a fluid particle a second over the number of fluid particles, a line a search."""
    figure, axes = plt.subplots()
    for way, rows in table.groupby("way", sort=False):
        axes.plot(rows["particles"], rows["million/s"], **_LOOKS[way], label=way)
    axes.set(xscale="log", xlabel="fluid particles", ylabel="million particle steps a second", ylim=(0, None))
    axes.set_title(table["hardware"].iloc[0])
    figure.legend(loc="outside lower center", ncols=2)
    return figure, dict(table[["way", "particles", "million/s"]])
