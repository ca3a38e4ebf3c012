"""Figures of the thermodynamics notebook. Lines are theory, points with error bars (one standard error) are runs."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.dpd import exact
from repro.dpd.fluid import Fluid
from repro.papers.style import COLOURS, looks

_TIME = r"time ($r_c\sqrt{m/kT}$)"
_THEORY = {"color": "0.3", "linewidth": 1}


def _each(table: pd.DataFrame, by, **look):
    """Each value of a column, or of columns, its rows, and how they look."""
    for (value, rows), each in looks(table.groupby(by), **look):
        yield value, rows, each


def temperature(table: pd.DataFrame):
    """kT over the time step for each lambda, with the band of half a per cent around the set temperature."""
    figure, axes = plt.subplots()
    axes.axhspan(0.995, 1.005, color="0.9", zorder=0, label="set, within 0.5 %")
    for predictor, rows, look in _each(table, "lambda", capsize=3):
        axes.errorbar(rows["dt"], rows["kT"], rows["error"], **look, label=rf"$\lambda = {predictor:g}$")
    axes.set(xlabel=r"time step ($r_c\sqrt{m/kT}$)", ylabel="measured $kT$", xlim=(0, 1.08 * table["dt"].max()))
    axes.legend()
    return figure


def pressure(table: pd.DataFrame):
    """Pressure over the repulsion for each density, beside the fit, and the fit's factor that each run gives."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.0))
    for density, rows, look in _each(table, "rho", linestyle="none", capsize=3):
        left.errorbar(rows["a"], rows["p"], rows["error"], **look, label=f"density {density:g}")
        left.plot(rows["a"], rows["fit"], color=look["color"], marker="none", linewidth=1)
        soft = rows[rows["a"] > 0]
        error = soft["excess error"] / (soft["a"] * soft["rho"] ** 2)
        right.errorbar(soft["a"], soft["alpha"], error, **look, label=f"density {density:g}")
    right.axhspan(0.95 * exact.ALPHA, 1.05 * exact.ALPHA, color="0.9", zorder=0, label=f"{exact.ALPHA:g}, within 5 %")
    right.axhline(np.pi / 30, **_THEORY, linestyle="--", label=r"$\pi/30$, no correlation")
    xlabel, fit = "repulsion $a$ ($kT/r_c$)", rf"lines: $\rho kT + {exact.ALPHA:g}\,a\rho^2$"
    left.set(xlabel=xlabel, ylabel="pressure ($kT/r_c^3$)", title=fit)
    right.set(xlabel=xlabel, ylabel=r"$(p - \rho kT)/(a\rho^2)$", xlim=(0, None), ylim=(None, 0.118))
    left.legend()
    right.legend(ncols=2, loc="upper center")
    return figure


def structure(table: pd.DataFrame):
    """Radial distribution functions."""
    figure, axes = plt.subplots()
    axes.axhline(1, color="0.5", linewidth=1)
    for repulsion, rows, look in _each(table, "a", markersize=3.5, capsize=2):
        axes.errorbar(rows["r"], rows["g"], rows["error"], **look, linewidth=1, label=f"$a = {repulsion:g}$")
    axes.set(xlabel="distance ($r_c$)", ylabel="$g(r)$", xlim=(0, None), ylim=(0, 1.5))
    axes.legend(loc="lower right")
    return figure


def diffusion(curves: pd.DataFrame, memory: pd.DataFrame):
    """Mean square displacements, and the velocity autocorrelation, beside kinetic theory without repulsion."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.0))
    theory = exact.self_diffusion(Fluid())
    for repulsion, rows, look in _each(curves, "a", markersize=3.5, linestyle="none"):
        left.errorbar(rows["t"], rows["square"], rows["error"], **look, label=f"$a = {repulsion:g}$")
    time = np.linspace(0, curves["t"].max(), 50)
    left.plot(time, 6 * theory * time, **_THEORY, marker="none", label="kinetic theory, $6Dt$")
    left.set(xlabel=_TIME, ylabel="mean square displacement ($r_c^2$)", xlim=(0, None), ylim=(0, None))
    look = {"color": COLOURS[0], "marker": "o", "markersize": 3.5, "linestyle": "none"}
    right.errorbar(memory["t"], memory["memory"], memory["error"], **look, label="$a = 0$")
    time = np.linspace(0, memory["t"].max(), 50)
    right.plot(time, np.exp(-time / theory), **_THEORY, marker="none", label="kinetic theory, $e^{-kT\\,t/D}$")
    right.set(xlabel=_TIME, ylabel="velocity autocorrelation", xlim=(0, None), ylim=(0, 1.02))
    left.legend()
    right.legend()
    return figure


def viscosity(profiles: pd.DataFrame, table: pd.DataFrame):
    """Profiles of reverse Poiseuille flow over the drive, and the viscosities that the parabolas give."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.0))
    for (repulsion, drive), rows, look in _each(profiles, ["a", "drive"], linestyle="none", markersize=3.5):
        scaled, label = rows[["velocity", "error", "fit"]] / drive, f"$a = {repulsion:g}$, $g = {drive:g}$"
        left.errorbar(rows["z"], scaled["velocity"], scaled["error"], **look, label=label)
        left.plot(rows["z"], scaled["fit"], color=look["color"], marker="none", linewidth=1)
        row = table[(table["a"] == repulsion) & (table["drive"] == drive)].iloc[0]
        right.errorbar(row["drive"], row["viscosity"], row["error"], **(look | {"markersize": 6}), capsize=3)
    theory = float(table["theory"].iloc[0])
    right.axhspan(0.7 * theory, 1.3 * theory, color="0.9", zorder=0)
    right.axhline(theory, **_THEORY, label="kinetic theory, and 30 %")
    left.set(xlabel="$z$ ($r_c$)", ylabel="velocity over drive")
    right.set(xlabel="drive $g$ (force per mass)", ylabel="viscosity", xlim=(0, 1.2 * table["drive"].max()))
    right.set_ylim(0, 1.5 * max(theory, table["viscosity"].max()))
    right.legend(loc="lower right")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
