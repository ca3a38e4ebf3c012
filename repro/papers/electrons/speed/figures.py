"""Figures of the speed notebook; each function returns (figure, arrays), the arrays being the numbers it shows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import NullLocator

from repro.papers import speed
from repro.papers.style import BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILLION, YELLOW

from .programs import BATCHES, BATCHES_ON_CORE, LOOP, LOOP_ON_CORE, ON_DEVICE, PAPER, PRODUCTION, TILES
from .shared import CORES, TURNS
from .tables import GROUPS, PAPER_PARTICLES, UNKNOWN

_LOOKS = {
    PAPER: {"color": BLUE, "marker": "o"},
    ON_DEVICE: {"color": SKY_BLUE, "marker": "v"},
    PRODUCTION: {"color": VERMILLION, "marker": "s"},
    TILES: {"color": ORANGE, "marker": "X"},
    LOOP: {"color": GREEN, "marker": "^"},
    BATCHES: {"color": PURPLE, "marker": "D"},
    LOOP_ON_CORE: {"color": GREEN, "marker": "P"},
    BATCHES_ON_CORE: {"color": PURPLE, "marker": "*"},
}

#: programs whose speedup is drawn, over which one: the paper's over its kind of loop and over the fast one, and ours
_SPEEDUPS = (PAPER, LOOP), (PAPER, BATCHES), (PRODUCTION, LOOP)

WHOLE = "whole step"
_GROUP_COLOURS = {WHOLE: "0.6"} | dict(zip(GROUPS, (BLUE, PURPLE, VERMILLION, ORANGE, GREEN, YELLOW), strict=True))


def times(table: pd.DataFrame):
    """Nanoseconds of a step of a particle over the number of particles, a line a program."""
    figure, axes = plt.subplots(figsize=(7.2, 5.4))
    for program, rows in table.groupby("program", sort=False):
        axes.plot(rows["particles"], rows["ns"], **_LOOKS[program], label=f"{program}: {rows['hardware'].iloc[0]}")
    axes.set(xscale="log", yscale="log", xlabel="particles", ylabel="time of a step of a particle (ns)")
    figure.legend(loc="outside lower center", ncols=2 if table["program"].nunique() > 4 else 1)
    return figure, dict(table[["program", "particles", "ns"]])


def speedups(table: pd.DataFrame, stated: float, paper: dict):
    """Speedups of the paper's program and of ours over all cores, with the range of the runs; the paper's as a line.

    The arrays have those of all programs. `paper` holds the keywords of the project's style for a paper's points.
    """
    figure, axes = plt.subplots(figsize=(7.2, 4.8))
    for (program, over), rows in table.groupby(["program", "over"], sort=False):
        if (program, over) not in _SPEEDUPS:
            continue
        look = _LOOKS[program] | ({"linestyle": "-"} if over == LOOP else {"linestyle": "--", "mfc": "none"})
        spans = [(row.speedup - min(row.runs), max(row.runs) - row.speedup) for row in rows.itertuples()]
        bars = {"yerr": np.clip(spans, 0, None).T, "capsize": 2}
        axes.errorbar(rows["particles"], rows["speedup"], **bars, **look, label=f"{program} over {over}")
    axes.axhline(stated, color="black", linewidth=1, linestyle=":")
    axes.plot([PAPER_PARTICLES], [stated], **paper, label=f"paper: more than {stated:g}")
    axes.set(xscale="log", yscale="log", xlabel="particles", ylabel="speedup over all cores")
    figure.legend(loc="outside lower center", ncols=2)
    return figure, dict(table[["program", "over", "particles", "speedup"]])


def part_points(table: pd.DataFrame):
    """Nanoseconds a particle of the parts of a step, a point each, and of the whole step, program by program."""
    sums = table.pivot_table(index="program", columns="group", values="ns", aggfunc="sum", sort=False)
    sums = sums.reindex(columns=list(GROUPS)).fillna(0)
    rows = pd.concat([sums.sum(axis=1).rename(WHOLE), sums], axis=1)
    shown = [(name, part, ns) for name, row in rows.iterrows() for part, ns in row.items() if ns > 0]
    figure = speed.part_points(shown, _GROUP_COLOURS, "time of a step of a particle (ns)")
    return figure, {"program": list(sums.index), **{group: sums[group].to_numpy() for group in GROUPS}}


def shared(table: pd.DataFrame):
    """Nanoseconds of a step of a particle over the number of processes, a panel a number of particles.

    Turns are timed with one and the most processes only, so no line joins them; dashes join those on several GPUs.
    """
    sizes = list(table["particles"].unique())
    figure, panels = plt.subplots(1, len(sizes), figsize=(2.2 + 4.2 * len(sizes), 4.4), sharey=True, squeeze=False)
    for axes, size in zip(panels[0], sizes, strict=True):
        rows = table[table["particles"] == size]
        for (program, sharing, gpus), way in rows.groupby(["program", "sharing", "gpus"], sort=False):
            look = _LOOKS[program] | ({"mfc": "none", "linestyle": "none"} if sharing == TURNS else {})
            look |= {"linestyle": "--"} if gpus > 1 and sharing != TURNS else {}
            name = program if sharing == CORES else f"{program}, {sharing}"
            if sharing not in (TURNS, CORES):
                alone = rows[(rows["program"] == program) & (rows["gpus"] == gpus) & (rows["processes"] == gpus)]
                way = pd.concat([alone, way])
            axes.plot(way["processes"], way["ns"], **look, label=f"{name}, {gpus} GPUs" if gpus > 1 else name)
        ticks = sorted(set(rows["processes"]))
        axes.set(xscale="log", yscale="log", xlabel="processes", title=f"{size:,} particles")
        axes.set_xticks(ticks, ticks)
        axes.xaxis.set_minor_locator(NullLocator())
    # one decade at least has labels
    panels[0, 0].set(ylim=(table["ns"].min() / 3, 3 * table["ns"].max()), ylabel="time of a step of a particle (ns)")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, dict(table[["program", "particles", "sharing", "gpus", "processes", "ns"]])


def codes(table: pd.DataFrame):
    """Nanoseconds of a step of a particle: ours and other codes, from `tables.comparison`."""
    known = [[row.code, row.precision, row.case] for row in table.itertuples()]
    names = [", ".join(part for part in parts if part != UNKNOWN) for parts in known]
    figure, axes = plt.subplots(figsize=(7.2, 0.4 * len(table) + 1.2))
    colours = [BLUE if who == "this run" else ORANGE for who in table["who"]]
    axes.scatter(table["ns"], range(len(table)), 40, colours)
    for place, row in enumerate(table.itertuples()):
        axes.annotate(f"{row.ns:.3g}, {row.where}", (row.ns, place), (8, -3), textcoords="offset points", fontsize=8)
    axes.set_yticks(range(len(table)), names)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="time of a step of a particle (ns); blue: here")
    axes.set_xlim(table["ns"].min() / 2, 8 * table["ns"].max())
    axes.grid(axis="y", visible=False)
    return figure, {"name": names, "ns": table["ns"].to_numpy()}
