"""Figures of load balancing (the paper's figures 4 and 5)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLUE, ORANGE, PLATE, VERMILLION

from .balance import WARP, cell_order, shares_in_groups, warp_share


def warps(counts: np.ndarray, pairs: np.ndarray):
    """Work of the threads of some of all warps before and after sorting (figures 4 and 5), from each cell's pairs."""
    shown, orders = 10, {"as the cells lie (figure 4)": "natural", "sorted by particles (figure 5)": "by particles"}
    figure, panels = plt.subplots(2, 1, figsize=(6.4, 4.8), sharex=True, sharey=True)
    for axes, (title, name) in zip(panels, orders.items(), strict=True):
        order = cell_order(name, counts, pairs)
        groups = shares_in_groups(pairs, order)
        chosen = groups[((np.arange(shown) + 0.5) * len(groups) / shown).astype(int)]
        threads = np.arange(chosen.size)
        longest = np.repeat(chosen.max(1), WARP)
        work_bars = axes.bar(threads, chosen.ravel(), 1.0, color=BLUE)
        wait_bars = axes.bar(threads, longest - chosen.ravel(), 1.0, chosen.ravel(), color=ORANGE, alpha=0.45)
        for edge in range(WARP, chosen.size, WARP):
            axes.axvline(edge - 0.5, color="0.4", linewidth=0.8)
        share = warp_share(pairs, order)
        axes.set_title(f"{title}: threads work {share:.0%} of the time of all {len(groups)} warps")
        axes.set(ylabel="pairs of the thread", xlim=(-0.5, chosen.size - 0.5))
        axes.grid(axis="x", visible=False)
    axes.set_xticks(np.arange(shown) * WARP + WARP / 2 - 0.5, [str(k + 1) for k in range(shown)])
    axes.set_xlabel(f"{shown} of the warps, {WARP} threads each, a cell a thread")
    figure.legend([work_bars, wait_bars], ["works", "waits for its warp"], loc="outside lower center", ncols=2)
    return figure


def gain_bars(table: pd.DataFrame):
    """Predicted and measured gain by sorting, one group of bars per density; `table` comes from balance.gains."""
    columns = {"predicted gain": "predicted", "kernel": "force kernel", "with sorting": "lists, sorting and forces"}
    figure, axes = plt.subplots()
    gains = table.set_index("density")[list(columns)].rename(columns=columns)
    gains.plot.bar(ax=axes, width=0.8, color=["0.7", BLUE, VERMILLION], rot=0, legend=False)
    for bars in axes.containers:
        axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=3, bbox=PLATE)
    axes.axhline(1, color="k", linewidth=1, linestyle="--")
    axes.set(ylabel="time in natural order / time sorted", xlabel="density", ylim=(0, 1.15 * axes.get_ylim()[1]))
    axes.grid(axis="x", visible=False)
    figure.legend(loc="outside lower center", ncols=3)
    return figure
