"""Figures of the notebook on plasma. Each function returns (figure, arrays), the numbers that it shows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import COLOURS, GREEN, look, looks

from .waves import ENERGY_DRIFT, FREQUENCY_ERROR, drift

_SMALLEST = 1e-17
#: places of a cold wave that are drawn, so that symbols on one another are seen
_SYMBOLS = 50


def frequencies(table: pd.DataFrame):
    """Frequencies over omega_p against the cells of a wavelength (small steps) and against the step (along x)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.8), sharey=True)
    step = table["omega_p dt"].mode().min()
    named = table.assign(direction=table["direction"].replace("diagonal", "the diagonal"))
    for (direction, rows), drawn in looks(named.groupby("direction", sort=False), ls="none", mfc="none"):
        small, along_x = rows[rows["omega_p dt"] == step], rows[rows["direction"] == "x"]
        for axes, column, some in ((left, "cells a wavelength", small), (right, "omega_p dt", along_x)):
            some = some.sort_values(column)
            axes.plot(some[column], some["omega / omega_p"], **drawn, label=f"along {direction}")
            axes.plot(some[column], some["theory"], color=drawn["color"], marker="none", lw=1)
    for axes in (left, right):
        axes.axhspan(1 - FREQUENCY_ERROR, 1 + FREQUENCY_ERROR, color=GREEN, alpha=0.15)
    left.set(xlabel="cells of a wavelength along each axis", ylabel=r"frequency over $\omega_p$")
    right.set(xlabel=r"$\omega_p\Delta t$ (along x)")
    left.legend()
    return figure, {name: table[name] for name in ("cells a wavelength", "omega_p dt", "omega / omega_p", "theory")}


def energies(runs: dict, warm: dict[float, pd.DataFrame]):
    """The total energy over that at the start: of cold waves, means of a period, and of warm plasmas.

    Of the cold waves those of the smallest and of the largest swing are drawn.
    """
    arrays, swings = {}, [swing for swing, _ in runs]
    ends = sorted({min(swings), max(swings)})
    figure, panels = plt.subplots(1, 1 + len(ends), figsize=(1.2 + 3.2 * (1 + len(ends)), 4.0))
    double = {"color": COLOURS[0], "marker": "o", "mfc": "none"}
    single = {"color": COLOURS[1], "marker": "."}
    for (swing, precision), table in runs.items():
        change, label = drift(table), f"swing of {swing:g} cells, {precision}"
        if swing in ends:
            drawn = double if precision == "double" else single
            some = 100 * change.iloc[:: max(1, len(change) // _SYMBOLS)]
            panels[ends.index(swing)].plot(some, lw=0.7, **drawn, label=f"{precision} precision")
        arrays |= {f"{label}: periods": change.index.to_numpy(), f"{label}: drift": change.to_numpy()}
    for k, (per_cell, table) in enumerate(warm.items()):
        label = f"{per_cell:g} particles a cell"
        panels[-1].plot(table["periods"], 100 * table["energy"], **look(k) | {"marker": "none"}, label=label)
        arrays |= {f"{label}: periods": table["periods"], f"{label}: energy": table["energy"]}
    titles = [f"cold wave, swing of {swing:g} cells" for swing in ends]
    for axes, title in zip(panels, [*titles, "warm plasma"], strict=True):
        axes.axhspan(-100 * ENERGY_DRIFT, 100 * ENERGY_DRIFT, color=GREEN, alpha=0.15)
        axes.set(xlabel="plasma periods", title=title)
        axes.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.18))
    panels[0].set(ylabel="change of the energy (%)")
    return figure, arrays


def charges(table: pd.DataFrame):
    """Residuals of continuity and of Gauss' law over the steps of a busy box."""
    figure, axes = plt.subplots()
    for k, (precision, rows) in enumerate(table.groupby("precision", sort=False)):
        for name, words, line in (("continuity", "continuity", "-"), ("gauss", "Gauss' law", "--")):
            values = np.maximum(rows[name], _SMALLEST)
            axes.semilogy(rows["step"], values, line, color=COLOURS[k], label=f"{words}, {precision} precision")
    axes.set(xlabel="step", ylabel="residual over the largest charge")
    figure.legend(loc="outside lower center", ncols=2)
    return figure, {name: table[name] for name in table}


def growth(table: pd.DataFrame, rate: float):
    """The field between two streams over time, with theory's growth drawn through its middle."""
    figure, axes = plt.subplots()
    axes.semilogy(table["time"], table["field"], color=COLOURS[0], marker="none", label="field")
    end = table["time"][table["field"] > 0.5 * table["field"].max()].iloc[0]
    rows = table[(table["time"] > min(3.0, end / 2)) & (table["time"] <= end)]
    middle = rows.iloc[len(rows) // 2]
    line = middle["field"] * np.exp(rows["time"] - middle["time"])
    axes.semilogy(rows["time"], line, "--", color=COLOURS[1], marker="none", label="theory")
    axes.set(xlabel=f"time times theory's growth rate, {rate / 1e9:.3g} per nanosecond")
    axes.set_ylabel("amplitude of the field (V/m)")
    axes.legend()
    return figure, {name: table[name] for name in table}
