"""Figures of the notebook on gyration. Each function returns (figure, arrays), the numbers that it shows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.electrons.collisions.tracks import named
from repro.papers.style import COLOURS, look, looks

from .crossed import PUSHERS, largest_angle
from .orbits import PHASE_ERROR, RADIUS_ERROR

_SMALLEST = 1e-17


def turns(runs: dict):
    """Errors of radius and phase over the turns: double precision filled, single open, Boris' phase dotted."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 4.0))
    arrays, energies = {}, sorted({energy for energy, _ in runs})
    for (energy, precision), table in runs.items():
        k = energies.index(energy)
        drawn = look(k) | {"mfc": None if precision == "double" else "none"}
        drawn |= {"ls": "-" if precision == "double" else "--", "label": f"{named(energy)}, {precision}"}
        for axes, name in ((left, "radius"), (right, "phase")):
            axes.semilogy(table["turns"], np.maximum(table[name].abs(), _SMALLEST), **drawn)
        arrays |= {f"{energy:g} eV, {precision}: {name}": table[name] for name in ("turns", "radius", "phase")}
    for k, energy in enumerate(energies):
        table = runs[energy, "double"]
        right.semilogy(table["turns"], table["Boris"].abs(), ":", **look(k) | {"marker": "none"})
    left.plot([], [], ":", color="0.4", marker="none", label="Boris' rotation")
    left.axhline(RADIUS_ERROR, color="0.5", lw=1, marker="none", label="at most, double precision")
    right.axhline(PHASE_ERROR, color="0.5", lw=1, marker="none")
    left.set(xlabel="turns", ylabel="error of the radius (relative)")
    right.set(xlabel="turns", ylabel="error of the phase (radians)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure, arrays


def drifts(runs: dict):
    """The way along the drift, a panel a run: wound that of the electron, dashed that of its orbit's centre."""
    columns = min(4, len(runs))
    rows = -(-len(runs) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(2.6 * columns, 2.5 * rows), squeeze=False)
    arrays = {}
    for axes, ((share, momentum), table) in zip(panels.flat, runs.items(), strict=False):
        label = f"E = {share:g} c B, u = {momentum:g}"
        axes.plot(table["step"], table["x"], color=COLOURS[0], marker="none", label="electron")
        axes.plot(table["step"], table["centre"], "--", color=COLOURS[1], marker="none", label="centre of the orbit")
        axes.set_title(label)
        arrays |= {f"{label}: {name}": table[name] for name in ("step", "x", "centre")}
    for axes in panels[-1]:
        axes.set_xlabel("step")
    figure.supylabel("way (c times a step)", fontsize=10)
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, arrays


def force_free(table: pd.DataFrame, gamma: float):
    """The angle by which each step deflects an electron that no force acts on, over the turn in a step."""
    figure, axes = plt.subplots()
    for name, drawn in looks(PUSHERS, ls="none", mfc="none"):
        rows = table[table["pusher"] == name]
        axes.loglog(rows["turn"], np.maximum(rows["angle"], _SMALLEST), **drawn, label=name)
        if name in ("Boris", "splitting"):
            theory = largest_angle(name, rows["turn"], gamma)
            axes.loglog(rows["turn"], theory, color=drawn["color"], marker="none", lw=1, label=f"{name}, small steps")
    axes.set(xlabel="turn in a step without the electric field (radians)", ylabel="largest deflection (radians)")
    turns = table["turn"].unique()
    axes.set_xticks(turns, [f"{turn:g}" for turn in turns])
    axes.xaxis.set_minor_formatter("")
    axes.legend()
    return figure, {name: table[name] for name in table}


def leaks(found: dict[str, dict]):
    """How many electrons are how far from their helices in the end."""
    figure, axes = plt.subplots()
    for k, (precision, run) in enumerate(found.items()):
        distance = np.maximum(run["distance"], _SMALLEST)
        bins = np.geomspace(distance.min(), 1.01 * distance.max(), 30)
        axes.hist(distance, bins, histtype="step", lw=1.6, color=COLOURS[k], label=f"{precision} precision")
    axes.set(xscale="log", xlabel="distance from the helix (cells)", ylabel="electrons")
    axes.legend()
    return figure, {precision: run["distance"] for precision, run in found.items()}
