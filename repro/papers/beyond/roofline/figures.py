"""Figures of the notebook on floors; each function returns (figure, arrays), the arrays being the numbers it shows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLACK, BLUE, COLOURS, MARKERS, ORANGE

from .kernels import KERNELS
from .measures import ISSUE, MEMORY

#: panels side by side
_ACROSS = 3

_METHODS = list(dict.fromkeys(kernel.method for kernel in KERNELS.values()))


def roofline(table: pd.DataFrame, copy: float):
    """Rate over the bytes of an item, below the rate that the bandwidth `copy` (bytes a second) allows.

    A bar stands where issue, and not memory, is the limit of a kernel.
    """
    figure, axes = plt.subplots(figsize=(6.8, 4.4))
    reach = np.array([table["bytes"].min() / 1.6, 1.6 * table["bytes"].max()])
    axes.plot(reach, copy / reach / 1e6, color=BLACK, marker="", label="memory allows")
    for method, rows in table.groupby(_method(table), sort=False):
        k = _METHODS.index(method)
        axes.plot(rows["bytes"], rows["million/s"], linestyle="none", marker=MARKERS[k], color=COLOURS[k], label=method)
    issue = table[table["bound"] == ISSUE]
    if len(issue):
        label = {"label": "issue allows"}
        axes.plot(issue["bytes"], 1e3 / issue["floor (ns)"], "_", color="0.4", markersize=16, **label)
    axes.set(xscale="log", yscale="log", xlabel="bytes of a node or particle in a step", ylabel="million a second")
    axes.legend()
    return figure, dict(table[["kernel", "bytes", "million/s"]])


def shares(table: pd.DataFrame):
    """Share of the floor of each kernel as a dot, and what sets the floor as its colour."""
    figure, axes = plt.subplots(figsize=(6.8, 0.34 * len(table) + 1.4))
    place = np.arange(len(table))[::-1]
    axes.hlines(place, 0, 1, "0.9", linewidth=0.8, transform=axes.get_yaxis_transform(), zorder=1)
    axes.axvline(100, color=BLACK, linewidth=0.8)
    for bound, colour in ((MEMORY, BLUE), (ISSUE, ORANGE)):
        chosen = (table["bound"] == bound).to_numpy()
        if chosen.any():
            axes.plot(table["share (%)"][chosen], place[chosen], "o", color=colour, label=bound, zorder=2)
    axes.set_yticks(place, table["kernel"])
    least, most = (ends(table["share (%)"]) for ends in (min, max))
    axes.set(xlabel="share of the floor (%)", xscale="log", xlim=(least / 1.5, max(130.0, 1.3 * most)))
    axes.grid(axis="y", visible=False)
    figure.legend(title="limit", loc="outside lower center", ncols=2)
    return figure, dict(table[["kernel", "share (%)"]])


def steps(table: pd.DataFrame, crossings: pd.DataFrame):
    """Time of a step over the number of items, a panel a method; a line marks where the GPU overtakes all cores."""
    names = list(table["kernel"].unique())
    across, down = min(len(names), _ACROSS), -(-len(names) // _ACROSS)
    size, options = (1.2 + 2.7 * across, 0.8 + 2.6 * down), {"sharex": True, "sharey": True, "squeeze": False}
    figure, panels = plt.subplots(down, across, figsize=size, **options)
    for axes in panels.flat[len(names) :]:
        axes.set_visible(False)
    places = crossings.set_index("kernel")["GPU is faster from"]
    for axes, name in zip(panels.flat, names, strict=False):
        for device, rows in table[table["kernel"] == name].groupby("device", sort=False):
            gpu = device == "cuda"
            look = {"color": BLUE if gpu else ORANGE, "marker": "o" if gpu else "s"}
            axes.plot(rows["items"], 1e6 * rows["seconds"], **look, label="GPU" if gpu else "all cores")
        if np.isfinite(places.get(name, np.nan)):
            axes.axvline(places[name], color="0.5", linewidth=0.8)
        axes.set(xscale="log", yscale="log", title=name)
    figure.supxlabel("nodes or particles", fontsize=10)
    figure.supylabel("time of a step (us)", fontsize=10)
    panels[0][0].legend()
    return figure, dict(table[["kernel", "device", "items", "seconds"]])


def _method(table: pd.DataFrame) -> pd.Series:
    return table["kernel"].map(lambda name: KERNELS[name].method)
