"""Figures of the notebook on the fields. Each function returns (figure, arrays), the numbers that it shows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLUE, looks

from .continuity import REALS
from .dispersion import theory
from .reflection import JUDGED, LARGEST


def dispersion(table: pd.DataFrame):
    """Phase velocity over the direction, of `dispersion.directions`, and by how much frequencies are off theory."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.8))
    angles, arrays = np.linspace(0, 90, 91), {"angle": table["angle"], "wavelength": table["wavelength"]}
    for (wavelength, rows), drawn in looks(table.groupby("wavelength"), ls="none", mfc="none"):
        curve = theory(wavelength, angles)
        left.plot(angles, 100 * (curve - 1), "-", marker="none", color=drawn["color"])
        left.plot(rows["angle"], 100 * (rows["measured"] - 1), **drawn, label=f"{wavelength} cells")
        right.semilogy(rows["angle"], np.maximum(rows["error"].abs(), 1e-17), **drawn)
        arrays |= {f"{wavelength} cells: theory": curve}
    for axes in (left, right):
        axes.set(xlabel="direction from an axis (degrees)", xticks=range(0, 91, 15))
    left.set_ylabel("phase velocity less $c$ (% of $c$)")
    right.set(ylabel="frequency less theory (of theory)", ylim=(1e-17, 1e-12))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure, arrays | {name: table[name] for name in ("measured", "theory", "error")}


def reflection(table: pd.DataFrame):
    """What comes back over the angle of incidence, and over the number of layers the most and the range of all angles.

    Of `reflection.table`.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 4.4), sharey=True)
    # colours and markers repeat, open and dashed then
    again = {"ls": (*["-"] * 8, *["--"] * 8), "mfc": (*[None] * 8, *["none"] * 8)}
    for (layers, rows), look in looks(table.groupby("layers"), **again):
        left.plot(rows["angle"], rows["reflection"], **look, label=f"{layers:g} layers")
    spread = table.groupby("layers")["reflection"].agg(["min", "max"])
    right.plot(spread["max"], "o-", color=BLUE, label="largest of all angles")
    right.fill_between(
        spread.index, spread["min"], spread["max"], color=BLUE, alpha=0.2, lw=0, label="range of all angles"
    )
    limit = f"at most, with {JUDGED} layers or more"
    for axes, label, columns in ((left, None, 3), (right, limit, 2)):
        axes.axhline(LARGEST, color="0.4", ls=":", marker="none", label=label)
        axes.legend(fontsize=8, ncols=columns, handlelength=3, loc="upper center", bbox_to_anchor=(0.5, -0.18))
    left.set(xlabel="angle of incidence (degrees)", ylabel="largest field reflected (dB)")
    right.set(xlabel="absorbing layers", xticks=spread.index)
    return figure, {name: table[name] for name in ("angle", "layers", "reflection")}


def continuity(errors: dict[str, np.ndarray], table: pd.DataFrame):
    """Errors of single segments as distributions, and of sums of many over their number, of `continuity`."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.8))
    bins, arrays = np.logspace(-17, -5, 97), {}
    for (name, found), look in looks(errors.items()):
        colour = look["color"]
        left.hist(np.maximum(found, bins[0]), bins, color=colour, alpha=0.7, label=f"{name} precision")
        left.axvline(np.finfo(REALS[name]).eps, color=colour, ls=":", marker="none")
        rows = table[table["precision"] == name]
        right.loglog(rows["segments"], rows["residual"], **look, label=f"{name} precision")
        right.loglog(rows["segments"], rows["limit"], "--", marker="none", color=colour, label=f"at most, {name}")
        arrays[f"{name}: errors"] = found
    left.set(xscale="log", xlabel="residual of a segment (of its charge)", ylabel="segments")
    right.set(xlabel="segments in a step", ylabel=r"residual (of the largest $|\rho|/\Delta t$)")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure, arrays | {name: table[name] for name in ("precision", "segments", "residual", "limit")}
