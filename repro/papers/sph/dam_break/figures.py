"""Figures of the notebook on the dam break. Each function returns (figure, arrays), the numbers that it shows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLUE, GREEN, looks
from repro.sph.surface import Surface, smoothed

from .runs import VOLUME_CHANGE, Run
from .water import picture

#: tiles on the tank's walls, a column's width
TILES = 2

#: rounds of smoothing of the surface
ROUNDS = 12


def _picture(surface: Surface, run: Run, width: int) -> np.ndarray:
    # without what single particles impress on the surface
    return picture(smoothed(surface, run.system, ROUNDS), run.system.tank, width, run.case.width / TILES)


def frames(run: Run, found: list[Surface], times, width: int):
    """The water at some times in s (figure 8), each picture `width` pixels wide."""
    kept = run.table.iloc[run.kept]
    numbers = [int((kept["time"] - time).abs().argmin()) for time in times]
    pictures = [_picture(found[number], run, width) for number in numbers]
    columns = min(3, len(times))
    rows = -(-len(times) // columns)
    height, across = pictures[0].shape[:2]
    size = 3.4 * columns, rows * (3.4 * height / across + 0.25)
    figure, panels = plt.subplots(rows, columns, figsize=size, squeeze=False)
    for axes in panels.ravel():
        axes.set_axis_off()
    shown = kept["time"].to_numpy()[numbers]
    for axes, image, time in zip(panels.ravel(), pictures, shown, strict=False):
        axes.imshow(image, interpolation="antialiased")
        axes.set_title(f"{time:.2f} s")
    return figure, {"time": shown, "front": kept["front"].to_numpy()[numbers]}


def film(run: Run, found: list[Surface], width: int, end: float) -> tuple[np.ndarray, list[str]]:
    """Images (number, height, width, 3) in bytes and captions, of all looks kept until `end` in s: for an animation."""
    times = run.table["time"].to_numpy()[run.kept]
    last = int(np.searchsorted(times, end * (1 + 1e-3), side="right"))
    pictures = np.array([_picture(surface, run, width) for surface in found[:last]])
    return (255 * pictures).round().astype(np.uint8), [f"{time:.2f} s" for time in times[:last]]


def fronts(runs: dict[int, Run], experiments: dict[str, pd.DataFrame]):
    """Fronts over time, ours as lines, the experiments' as points; Ritter's as the bound."""
    figure, axes = plt.subplots()
    arrays = {}
    for (count, run), look in looks(runs.items(), marker="none", ls=(":", "--", "-")):
        t, z = run.table["reduced"], run.table["front"]
        axes.plot(t, z, **look, label=f"{count:,} particles")
        arrays |= {f"{count} particles: t*": t, f"{count} particles: Z": z}
    for (name, points), look in looks(experiments.items(), ls="none", mfc="none", color="black"):
        near = points[points["z"] < 4.5]
        axes.plot(near["t_star"], near["z"], **look, label=name)
        arrays |= {f"{name}: t*": near["t_star"], f"{name}: Z": near["z"]}
    t = np.array([0.0, 2.0])
    axes.plot(t, 1 + 2 * t, marker="none", color="0.6", lw=1, label="Ritter: no front is faster")
    axes.set(xlabel=r"$t^* = t\,\sqrt{2g/a}$", ylabel="front $Z = x/a$", xlim=(0, 3.5), ylim=(0.9, 4.6))
    figure.legend(loc="outside lower center", ncols=3)
    return figure, arrays


def energies(run: Run):
    """The energies over time, as shares of the total at the start."""
    figure, axes = plt.subplots()
    start, time = run.table["total"].iloc[0], run.table["time"]
    for name, line in (("potential", "--"), ("kinetic", "-"), ("dissipated", "-."), ("total", "-"), ("internal", ":")):
        axes.plot(time, 100 * run.table[name] / start, ls=line, marker="none", label=name)
    axes.set(xlabel="time (s)", ylabel="energy (% of the total at the start)", xlim=(0, None))
    figure.legend(ncols=5, loc="outside lower center")
    return figure, dict(run.table[["time", "kinetic", "potential", "internal", "total", "dissipated"]])


def volume(table: pd.DataFrame):
    """The volume of the reconstructed water over time, of `runs.volumes`."""
    figure, axes = plt.subplots(figsize=(6.4, 3.0))
    axes.plot(table["time"], 100 * table["volume"], "o-", color=BLUE, ms=3, label="here")
    band = 100 * (1 - VOLUME_CHANGE), 100 * (1 + VOLUME_CHANGE)
    axes.axhspan(*band, color=GREEN, alpha=0.15, label=f"as it should be, within {100 * VOLUME_CHANGE:g} %")
    axes.set(xlabel="time (s)", ylabel="volume (% of the column)", xlim=(0, None))
    figure.legend(loc="outside lower center", ncols=2)
    return figure, {"time": table["time"], "volume": table["volume"]}
