"""Figures of the notebook on gyration. Each function returns (figure, arrays), the numbers that it shows."""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import COLOURS, looks

from .crossed import PUSHERS, largest_angle
from .orbits import PHASE_ERROR, RADIUS_ERROR

_SMALLEST = 1e-17
#: steps of a drift that are drawn: some ten turns
_SHOWN = 400


def turns(runs: dict):
    """Errors of radius and phase over the turns in each precision, with Boris' phase: the largest of all energies.

    A band goes down to the smallest.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 4.0))
    double, single = (
        [table for (_, precision), table in runs.items() if precision == kind] for kind in ("double", "single")
    )
    for axes, name in ((left, "radius"), (right, "phase")):
        _band(axes, double, name, color=COLOURS[0], marker="o", label="double precision")
        _band(axes, single, name, color=COLOURS[1], marker="s", mfc="none", label="single precision")
    _band(right, double, "Boris", color="0.35", marker="none", ls=":", label="Boris' rotation")
    left.axhline(RADIUS_ERROR, color="0.5", lw=1, marker="none")
    right.axhline(PHASE_ERROR, color="0.5", lw=1, marker="none", label="at most, double precision")
    left.set(xlabel="turns", ylabel="error of the radius (relative)")
    right.set(xlabel="turns", ylabel="error of the phase (radians)")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    arrays = {}
    for (energy, precision), table in runs.items():
        arrays |= {f"{energy:g} eV, {precision}: {name}": table[name] for name in ("turns", "radius", "phase")}
    return figure, arrays


def _band(axes, tables: list[pd.DataFrame], name: str, **drawn) -> None:
    """The largest of a column of tables over the turns as a line, and a band down to the smallest."""
    sizes = np.maximum([table[name].abs() for table in tables], _SMALLEST)
    # energies differ by a part of a step
    at = np.mean([table["turns"] for table in tables], axis=0)
    axes.semilogy(at, sizes.max(0), **drawn)
    axes.fill_between(at, sizes.min(0), sizes.max(0), color=drawn["color"], alpha=0.2, lw=0)


def drifts(runs: dict):
    """How far an electron and the centre of its orbit are ahead of the exact drift, a panel a run.

    Of the weakest and the strongest electric field, and of the smallest and the largest momentum, at the beginning.
    """
    shares, momenta = (sorted({min(values), max(values)}) for values in zip(*runs, strict=True))
    size = {"figsize": (0.8 + 3.7 * len(momenta), 0.8 + 2.2 * len(shares))}
    figure, panels = plt.subplots(len(shares), len(momenta), sharex=True, squeeze=False, **size)
    for axes, way in zip(panels.flat, product(shares, momenta), strict=True):
        table = runs[way][runs[way]["step"] <= _SHOWN]
        axes.plot(table["step"], table["x"] - table["theory"], color=COLOURS[0], marker="none", label="electron")
        centre = table["centre"] - table["theory"]
        axes.plot(table["step"], centre, "--", color=COLOURS[1], marker="none", label="centre of its orbit")
        axes.set_title(_drift(*way))
    for axes in panels[-1]:
        axes.set_xlabel("step")
    figure.supylabel("way ahead of the exact drift (c times a step)", fontsize=10)
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    names = ("step", "x", "centre")
    return figure, {f"{_drift(*way)}: {name}": table[name] for way, table in runs.items() for name in names}


def _drift(share: float, momentum: float) -> str:
    return f"E = {share:g} c B, u = {momentum:g}"


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
