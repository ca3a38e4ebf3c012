"""Figures of the notebook on water at rest. Each function returns (figure, arrays), the numbers that it shows."""

import matplotlib.pyplot as plt
import numpy as np

from repro.papers.style import GREEN, looks
from repro.sph.exact import rest_pressure

from .runs import DEEP, PRESSURE_ERROR, Run


def profiles(runs: dict[str, Run]):
    """Pressure over depth against theory, and how far it is off where it is judged."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.8), sharey=True)
    first = next(iter(runs.values()))
    depth = np.linspace(0, first.system.depth, 50)
    left.plot(rest_pressure(depth, first.system.fluid) / 1000, depth, "-", color="0.4", marker="none", label="theory")
    arrays = {}
    for (name, run), drawn in looks(runs.items(), ls="none", mfc="none"):
        left.plot(run.profile.pressure / 1000, run.depth, **drawn, label=name)
        right.plot(100 * run.errors, run.depth, **drawn)
        arrays |= {f"{name}: depth": run.depth, f"{name}: pressure": run.profile.pressure}
    band = {"color": GREEN, "alpha": 0.15, "label": f"as it should be, within {100 * PRESSURE_ERROR:g} %"}
    right.axvspan(-100 * PRESSURE_ERROR, 100 * PRESSURE_ERROR, **band)
    judged = {"ls": ":", "label": f"judged below {DEEP:g} smoothing lengths"}
    right.axhline(DEEP * first.system.resolution.smoothing_length, color="0.6", marker="none", **judged)
    left.set(xlabel="pressure (kPa)", ylabel="depth (m)")
    right.set(xlabel="pressure less theory (% of theory)")
    left.invert_yaxis()
    # handles and labels of both panels
    named = [a + b for a, b in zip(*(axes.get_legend_handles_labels() for axes in (left, right)), strict=True)]
    figure.legend(*named, loc="outside lower center", ncols=3)
    return figure, arrays


def histories(runs: dict[str, Run]):
    """Speeds, and distances of the particles from where they began, over time."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.8))
    arrays = {}
    for (name, run), drawn in looks(runs.items(), marker="none", ls=("-", "--", "-.", ":")):
        rows = run.table.iloc[1:]
        left.semilogy(rows["time"], 1000 * rows["speed"], **drawn, label=name)
        right.semilogy(rows["time"], rows["drift"], **drawn)
        arrays |= {f"{name}: {column}": run.table[column] for column in ("time", "speed", "drift")}
    for axes in (left, right):
        axes.xaxis.get_major_locator().set_params(nbins=6)
    left.set(xlabel="time (s)", ylabel="speed, root mean square (mm/s)")
    right.set(xlabel="time (s)", ylabel="drift, root mean square (spacings)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, arrays
