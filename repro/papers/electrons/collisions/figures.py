"""Figures of the notebook on collisions. Each function returns (figure, arrays), the numbers that it shows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm

from repro.papers.style import BLUE, COLOURS, GREEN, looks
from repro.pic.air.collision_tables import Collisions

from .angles import Angles
from .balance import Balance
from .tracks import STOPPING_ERROR, Reference, named, optical_depth


def stopping(table: pd.DataFrame, listed: Reference):
    """Stopping power over the energy with its two parts, and how far the tracks are from it."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.8))
    energy = 1e6 * listed.rows["kinetic_energy_MeV"]
    for column, line in zip(("total", "collision", "radiative"), ("-", "--", ":"), strict=True):
        shown = {"marker": "none", "color": "0.4", "ls": line}
        left.loglog(energy, listed.rows[f"{column}_MeV_cm2_g"], **shown, label=f"ESTAR, {column}")
    left.loglog(table["energy"], table["measured"], "o", mfc="none", color=BLUE, label="tracks")
    error, scatter = 100 * table["error"], 100 * table["scatter"]
    right.errorbar(table["energy"], error, 2 * scatter, fmt="o", mfc="none", color=BLUE, capsize=3)
    right.axhspan(-STOPPING_ERROR, STOPPING_ERROR, color=GREEN, alpha=0.15)
    right.set_xscale("log")
    left.set(xlabel="kinetic energy (eV)", ylabel="stopping power (MeV cm$^2$/g)")
    right.set(xlabel="kinetic energy (eV)", ylabel="tracks less ESTAR (%)")
    left.legend()
    arrays = {name: table[name] for name in ("energy", "measured", "table", "error", "scatter")}
    return figure, arrays


def free_paths(paths: dict[float, np.ndarray], collisions: Collisions):
    """Electrons that have not collided at an optical depth, over the exponential law: a colour an energy, side by side.

    The band is two standard deviations of so many electrons.
    """
    figure, axes = plt.subplots(figsize=(7.2, 4.0))
    at, arrays = np.linspace(0, 5, 16), {}
    law, count = np.exp(-at), min(map(len, paths.values()))
    apart = 0.6 * at[1] * (np.arange(len(paths)) - (len(paths) - 1) / 2) / len(paths)
    scale = LogNorm(0.9 * min(paths), 1.1 * max(paths))
    for (energy, free), beside in zip(paths.items(), apart, strict=True):
        left = 1 - np.searchsorted(optical_depth(collisions, energy, free), at) / len(free)
        colours = {
            "c": np.full(len(at), energy),
            "norm": scale,
            "cmap": "viridis",
            "edgecolors": "0.3",
            "linewidths": 0.3,
        }
        points = axes.scatter(at + beside, left / law, 16, **colours)
        arrays |= {f"{named(energy)}: depth": at, f"{named(energy)}: share": left}
    scatter = 2 * np.sqrt((1 / law - 1) / count)
    axes.fill_between(at, 1 - scatter, 1 + scatter, color="0.5", alpha=0.2, lw=0, label="two standard deviations")
    axes.axhline(1, color="0.4", lw=1, marker="none", label="exponential law")
    axes.set(xlabel="optical depth of the path", ylabel="electrons without a collision, over the law")
    figure.colorbar(points, label="kinetic energy (eV)")
    axes.legend()
    return figure, arrays


def angles(drawn: dict[float, Angles]):
    """Share of collisions that turn by more than an angle, with Mott's factor and without."""
    figure, axes = plt.subplots()
    arrays = {}
    for (energy, found), look in looks(drawn.items(), ls="none", mfc="none"):
        polar = np.degrees(2 * np.arcsin(np.sqrt(found.grid / 2)))
        shown = polar > 1e-3
        for law, line in ((found.below, "-"), (found.rutherford, ":")):
            axes.loglog(polar[shown], 1 - law[shown] + 1e-16, line, marker="none", color=look["color"])
        count = len(found.drawn)
        rank = np.unique(np.geomspace(1, 0.9 * count, 25).astype(int))
        at, more = np.degrees(2 * np.arcsin(np.sqrt(found.drawn[count - rank] / 2))), rank / count
        axes.loglog(at, more, **look, label=named(energy))
        arrays |= {f"{named(energy)}: angle": at, f"{named(energy)}: share": more}
    axes.set(xlabel="polar angle (degrees)", ylabel="collisions that turn by more", ylim=(1e-6, 1.5))
    axes.legend(title="drawn; lines: the law, dotted without Mott's factor")
    return figure, arrays


def ranges(found: dict[float, dict[str, np.ndarray]], listed: Reference):
    """How long paths are, and how deep electrons get, over the table's range."""
    figure, axes = plt.subplots(1, len(found), figsize=(4.3 * len(found), 3.6), squeeze=False)
    arrays = {}
    for axis, (energy, each) in zip(axes[0], found.items(), strict=True):
        reach = float(listed.range(energy))
        depth = each["place"][:, 0] / reach
        for name, values, colour in (("path", each["path"] / reach, COLOURS[0]), ("depth", depth, COLOURS[1])):
            axis.hist(values, bins=np.linspace(-0.5, 1.5, 61), histtype="step", color=colour, label=name)
            arrays[f"{named(energy)}: {name}"] = values
        axis.axvline(1, color="0.4", ls="--", marker="none", label="CSDA range")
        axis.set(xlabel=f"length over {reach:.3g} m", ylabel="electrons", title=named(energy))
    axes[0, 0].legend()
    return figure, arrays


def slow(found: Balance):
    """Density of slow electrons over time, with the exact solution and without recombination."""
    figure, axes = plt.subplots()
    nanoseconds = 1e9 * found.time
    axes.plot(nanoseconds, found.found, "o", mfc="none", color=BLUE, markevery=4, label="particles")
    axes.plot(nanoseconds, found.exact, "-", color="0.4", marker="none", label="exact")
    alone = found.source / found.attachment * -np.expm1(-found.attachment * found.time)
    axes.plot(nanoseconds, alone, ":", color="0.4", marker="none", label="attachment alone")
    axes.set(xlabel="time (ns)", ylabel="slow electrons (1/m$^3$)")
    axes.legend()
    return figure, {"time": found.time, "density": found.found, "exact": found.exact}
