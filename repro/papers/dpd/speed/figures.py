"""Figures of the speed notebook, which return (figure, arrays): the numbers that they show, by name."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from repro.papers.style import BLACK, BLUE, GREEN, ORANGE, PAPER, PURPLE, SKY_BLUE, VERMILLION, YELLOW

from .tables import ALL_CORES, ONE_CORE, SERIAL_PROGRAM

_LOOKS = {
    SERIAL_PROGRAM: (BLACK, "o", ":"),
    ONE_CORE: (ORANGE, "s", ":"),
    ALL_CORES: (VERMILLION, "^", ":"),
    "thread per cell": (BLUE, "D", "-"),
    "thread per particle": (GREEN, "v", "-"),
    "thread per particle, full stencil": (PURPLE, "P", "-"),
    "sorted cells": (SKY_BLUE, "X", "-"),
}

_GROUP_COLOURS = {"lists": SKY_BLUE, "clear and round off": PURPLE, "forces": ORANGE}
_GROUP_COLOURS |= {"hand back": GREEN, "integration": BLUE}


def rates(table: pd.DataFrame, published: pd.DataFrame):
    """Particle updates a second of every way over the number of particles, and the paper's (table 4)."""
    columns = {"one core": "o", "thread per cell": "D", "thread per particle": "v"}
    figure = _over_particles(table, "updates", published, columns, "particle updates per second")
    arrays = {f"{way} updates": group["updates"] for way, group in table.groupby("way")}
    return figure, arrays | {"particles": table["particles"].drop_duplicates()}


def speedups(table: pd.DataFrame, published: pd.DataFrame):
    """Speedup of every way over the serial program, and the paper's over its own on its core (table 4)."""
    column, ways = f"over {SERIAL_PROGRAM}", table[table["way"] != SERIAL_PROGRAM]
    columns = {"speedup, cell": "D", "speedup, particle": "v"}
    figure = _over_particles(ways, column, published, columns, "speedup over the serial program")
    figure.axes[0].axhline(1, color="0.5", linewidth=1, marker="none")
    return figure, dict(table[["way", "particles", column]])


def _over_particles(table: pd.DataFrame, column: str, published: pd.DataFrame, columns: dict, label: str):
    """A column over the number of particles, a line a way, and the `published` ones as points of the given marker."""
    figure, axes = plt.subplots(figsize=(7.6, 5.3))
    for way, rows in table.groupby("way", sort=False):
        colour, marker, line = _LOOKS[way]
        axes.plot(rows["particles"], rows[column], color=colour, marker=marker, linestyle=line, label=way)
    for name, marker in columns.items():
        look, of = PAPER | {"marker": marker, "markersize": 7}, name.replace("speedup, ", "thread per ")
        axes.plot(published["particles"], published[name], **look, label=f"paper, {of}")
    axes.set(xscale="log", yscale="log", xlabel="particles", ylabel=label)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def mapping_sketch(count: int, side: int):
    """Which pairs one thread computes in each of the paper's mappings: the thread with the most (section 4.2).

    Particles at random in a square of `side` cells a side. Pairs within the cutoff radius are lines, those of the
    thread are thick, and the cells that it visits are shaded: its own and the later half of those around it.
    """
    position = np.random.default_rng(5).uniform(0, side, (count, 2))
    cell = position.astype(int) @ (1, side)
    pairs, number = near_pairs(position, cell), np.arange(side**2)
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 4.3))
    for axes, name, thread in zip(panels, ("cell", "particle"), (cell, np.arange(len(position))), strict=True):
        owners = [thread[i] for i, _ in pairs]
        most = max(set(owners), key=owners.count)
        own = int(cell[np.flatnonzero(thread == most)[0]])
        beside = (abs(number % side - own % side) <= 1) & (abs(number // side - own // side) <= 1)
        for k in number[beside & (number >= own)]:
            axes.add_patch(plt.Rectangle((k % side, k // side), 1, 1, color=YELLOW, alpha=0.35, lw=0))
        for (i, j), owner in zip(pairs, owners, strict=True):
            style = {"color": VERMILLION, "lw": 2} if owner == most else {"color": "0.7", "lw": 0.8}
            axes.plot(*position[[i, j]].T, marker="none", zorder=1, **style)
        axes.scatter(*position.T, 36, np.where(thread == most, VERMILLION, "0.5"), zorder=2)
        threads = side**2 if name == "cell" else len(position)
        axes.set_title(f"thread per {name}: {threads} threads,\none of them computes {owners.count(most)} pairs")
        axes.set(xlim=(0, side), ylim=(0, side), xticks=range(side + 1), yticks=range(side + 1), aspect="equal")
        axes.set(xlabel="x ($r_c$)", ylabel="y ($r_c$)")
    return figure, {"position": position}


def near_pairs(position: np.ndarray, cell: np.ndarray) -> list[tuple[int, int]]:
    """All pairs (i, j) within the cutoff radius, each once: j lies in a later `cell` than i, or later in the same."""
    near = cKDTree(position).query_pairs(1.0)
    return sorted(tuple(sorted(pair, key=lambda i: (cell[i], i))) for pair in near)


def part_bars(parts: pd.DataFrame):
    """Time of the parts of a step: one bar per way."""
    times = 1e6 * parts.pivot_table(index="way", columns="group", values="seconds", aggfunc="sum", sort=False)
    shown = times.reindex(columns=list(_GROUP_COLOURS))
    figure, axes = plt.subplots(figsize=(7.6, 0.6 * len(shown) + 1.8))
    shown.plot.barh(ax=axes, stacked=True, width=0.6, color=_GROUP_COLOURS, legend=False)
    for k, whole in enumerate(shown.sum(axis=1)):
        axes.text(whole, k, rf" {whole:,.0f} $\mu$s", va="center", fontsize=8)
    axes.invert_yaxis()
    axes.set(xlabel=r"time of a step ($\mu$s)", ylabel="", xlim=(0, 1.15 * axes.get_xlim()[1]))
    axes.set_title(f"{parts['particles'].iloc[0]} particles, single precision")
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=5)
    return figure, dict(parts[["way", "part", "seconds"]])
