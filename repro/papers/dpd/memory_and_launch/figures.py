"""Figures of memory access, constants and launches (sections 4.5 and 4.6)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLACK, COLOURS, PLATE, SKY_BLUE, VERMILLION, look


def strides(table: pd.DataFrame, paper_ratio: float):
    """(figure, arrays): time over that of coalesced access, over the stride, from access.strides_table.

    The paper states the largest ratio only, so it is a line. The last tick of the axis is access at random.
    """
    figure, axes = plt.subplots()
    steps = [stride for stride in dict.fromkeys(table["stride"]) if stride]
    table = table.assign(at=table["stride"].map({stride: k for k, stride in enumerate(steps)} | {0: len(steps)}))
    for k, (bits, rows) in enumerate(table.groupby("bits", sort=False)):
        label = f"two arrays of 2$^{{{bits}}}$ numbers, {rows['MiB'].iloc[0]:.4g} MiB"
        style, random = look(k), rows["stride"] == 0
        axes.semilogy(rows["at"][~random], rows["ratio"][~random], label=label, **style)
        axes.semilogy(rows["at"][random], rows["ratio"][random], linestyle="none", **style)
    model = table[table["bits"] == table["bits"].iloc[0]]
    axes.semilogy(model["at"], model["model"], "--", color="0.4", marker="none", label="model: bytes moved")
    axes.axhline(paper_ratio, color=BLACK, linestyle=":", marker="none", label=f"paper: up to {paper_ratio:g}")
    names = [str(stride) for stride in steps] + (["random"] if 0 in set(table["stride"]) else [])
    axes.set_xticks(range(len(names)), names, rotation=45 if len(names) > 9 else 0)
    ticks = [1, 2, 4, 8, 16, 32, 64]
    axes.set_yticks(ticks, [*map(str, ticks)])
    axes.minorticks_off()
    axes.set(xlabel="distance of neighbouring threads' numbers (4 bytes each)", ylabel="time / time at distance 1")
    axes.set_ylim(0.7, max(48, 1.3 * table["ratio"].max()))
    figure.legend(loc="outside lower center", ncols=2)
    shown = table.groupby("bits")[["stride", "ratio", "model"]]
    return figure, {f"{name}, 2^{bits}": rows[name] for bits, rows in shown for name in rows}


def places(table: pd.DataFrame):
    """Gain of each memory space of the constants over global memory; `table` comes from memory.constants_table."""
    figure, axes = plt.subplots()
    at = table.set_index(["constants", "stencil"])
    gains, spread = (at[column].unstack(sort=False) for column in ("against global memory", "spread"))
    # half of the spread of the repetitions
    gains.plot.bar(ax=axes, yerr=gains * spread / 2, capsize=2, width=0.75, color=COLOURS, rot=0, legend=False)
    for bars, stencil in zip(axes.containers[1::2], gains.columns, strict=True):
        bars.set_label(f"{stencil} stencil")
        axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=2, bbox=PLATE)
    axes.axhline(1, color="k", linewidth=1, linestyle="--")
    axes.set_xticklabels([name.replace(" ", "\n") for name in gains.index])
    axes.set(ylabel="force kernel: time with\nglobal memory / time", xlabel="where the constants lie")
    axes.set_ylim(0, 1.2 * axes.get_ylim()[1])
    axes.grid(axis="x", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def speed_and_occupancy(table: pd.DataFrame, block: int):
    """Occupancy as bars and speed as points, both over the best, one pair per launch and one panel per kernel.

    `table` comes from occupancy.launch_table. Block sizes are to the left of the line, limits of registers at the one
    block size `block` to the right of it.
    """
    kernels = table.groupby("strategy", sort=False)
    figure, panels = plt.subplots(len(kernels), 1, figsize=(6.4, 2.5 * len(kernels)), squeeze=False)
    for axes, (strategy, rows) in zip(panels[:, 0], kernels, strict=True):
        limited = (rows["limit"] > 0) & (rows["block"] == block)
        rows = pd.concat([rows[~limited].sort_values("block"), rows[limited].sort_values("limit", ascending=False)])
        where, edge = np.arange(len(rows)), int((~limited).sum())
        bars = axes.bar(where, 100 * rows["occupancy"], 0.7, color=SKY_BLUE, alpha=0.6)
        points = axes.plot(where, 100 * rows["seconds"].min() / rows["seconds"], "o", color=VERMILLION)[0]
        axes.axvline(edge - 0.5, color="0.4", linewidth=0.8)
        names = [f"{size}" for size in rows["block"][:edge]] + [f"≤ {most}" for most in rows["limit"][edge:]]
        axes.set_xticks(where, names, fontsize=8)
        axes.set(ylabel="% of the best", title=f"force kernel of '{strategy}'", ylim=(0, 108))
        axes.grid(axis="x", visible=False)
    panels[-1, 0].set_xlabel(f"threads a block                    registers a thread, blocks of {block}")
    figure.legend([bars, points], ["theoretical occupancy", "speed"], loc="outside lower center", ncols=2)
    return figure
