"""Figures of the notebook on random numbers; those of the fluid return (figure, arrays), its numbers by way."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.dpd.noise import PAPER_ROUNDS, thread_words
from repro.papers.style import BLUE, OURS, VERMILLION
from repro.particles.random import ROUNDS

from .cycle import PERIOD, position
from .density_waves import BY_CELL, BY_PARTICLE, TEA, height, structures

_LOOK = {
    TEA: {"color": "0.45", "marker": "o"},
    BY_PARTICLE: {"color": BLUE, "marker": "s"},
    BY_CELL: {"color": VERMILLION, "marker": "^"},
}


def tea_correlations(table: pd.DataFrame):
    """Correlation with three neighbours against the rounds of TEA, and the band of independent numbers."""
    figure, axes = plt.subplots()
    ticks = sorted({*table["rounds"], ROUNDS, PAPER_ROUNDS})
    ends = ticks[0] / 1.2, 1.2 * ticks[-1]
    axes.fill_between(ends, 1e-5, table["band"].max(), color="0.85", label="chance (2 s.e.)")
    for column, label in (("(i, j+1)", "pair (i, j+1)"), ("(i+1, j)", "pair (i+1, j)"), ("next step", "a step later")):
        axes.loglog(table["rounds"], table[column].abs(), label=label)
    for rounds, name in ((ROUNDS, "here"), (PAPER_ROUNDS, "paper")):
        axes.axvline(rounds, color="black", lw=0.9, ls=":", marker="none")
        axes.text(rounds / 1.03, 0.4, name, rotation=90, ha="right", va="center", fontsize=9)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="rounds of TEA", ylabel="|correlation| with the pair (i, j)", ylim=(1e-5, 1.5), xlim=ends)
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def memory(table: pd.DataFrame):
    """Autocorrelation in time of the numbers of a thread or a pair, and their mean over all threads at a step."""
    figure, panels = plt.subplots(1, 2, figsize=(9.2, 3.8))
    for axes, what in zip(panels, ("correlation", "mean"), strict=True):
        axes.plot(table["lag"], table[f"method one, {what}"], **OURS | {"marker": "s"}, ms=4, label="method one")
        axes.plot(table["lag"], table[f"method two, {what}"], color="0.45", marker="o", ms=4, label="method two")
    panels[0].set(xlabel="later by (steps)", ylabel="correlation with the first number")
    panels[1].set(xlabel="step", ylabel="mean over all threads")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def starts_on_the_cycle(threads: int, steps: int, *, seed: int = 1):
    """Positions on the cycle of 2^32 words where threads start in the first steps: our figure 3."""
    figure, axes = plt.subplots(figsize=(6.8, 3.6))
    for step in range(1, steps + 1):
        at = position(thread_words(np.arange(threads, dtype=np.int64), (seed, step))[1]) / PERIOD
        axes.plot((0, 1), (step, step), color="0.8", lw=1, marker="none", zorder=1)
        axes.plot(at, np.full(threads, step), "o", ms=4, color=BLUE)
        # labels of neighbours on the cycle alternate above and below
        for place, thread in enumerate(np.argsort(at)):
            beside = 0.27 if place % 2 else -0.27
            axes.text(at[thread], step + beside, str(thread), ha="center", va="center", fontsize=8)
    axes.set(xlabel="position on the cycle / $2^{32}$", ylabel="step", xlim=(-0.02, 1.02), ylim=(steps + 0.6, 0.4))
    axes.set_yticks(range(1, steps + 1))
    axes.grid(axis="y", visible=False)
    return figure


def structure(runs: dict, box):
    """Power of each wave of the density against its wave number, in the mean over the runs of each way."""
    figure, axes = plt.subplots()
    powers = structures(runs)
    for k, (way, power) in enumerate(powers.items()):
        each = [np.fft.fftfreq(n, side / n) for n, side in zip(power.shape, box, strict=True)]
        number = 2 * np.pi * np.sqrt(sum(np.square(turn) for turn in np.meshgrid(*each, indexing="ij")))
        # shifted, so that none covers another
        axes.semilogy(number.ravel() + 0.03 * (k - 1), power.ravel(), ls="none", ms=4, mew=0, **_LOOK[way], label=way)
    axes.set(xlabel="wave number ($1/r_c$)", ylabel="power of the density, ideal gas = 1")
    figure.legend(loc="outside lower center", ncols=2)
    return figure, powers


def heights(runs: dict, wave, steps: int):
    """The amplitude of one density wave against time, in the first run of each way."""
    figure, panels = plt.subplots(len(runs), 1, sharex=True, sharey=True, figsize=(6.8, 4.6))
    arrays = {way: height(found[0], wave) for way, found in runs.items()}
    for axes, (way, found) in zip(panels, runs.items(), strict=True):
        values = 100 * arrays[way][: steps // found[0].every]
        axes.plot(found[0].every * (1 + np.arange(len(values))), values, **{**_LOOK[way], "ms": 2.5, "lw": 1})
        axes.set_title(way, fontsize=9, loc="left", pad=2)
    figure.supylabel(f"density in the wave {wave} (% of the mean)", fontsize=10)
    panels[-1].set_xlabel("step")
    return figure, arrays
