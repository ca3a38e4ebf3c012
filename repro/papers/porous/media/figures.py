"""Figures of the notebooks on flow in porous media.

Each function returns (figure, arrays): the arrays are the numbers that the figure shows, by name.
"""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLUE, GREEN, PAPER, PURPLE, VERMILLION

from .permeability import PAPER_NODES, series_over_porosity
from .precision import differences, of_walls, paper_difference
from .variants import PAPER_ROW, different

#: of the paper's points and of ours, by relaxation time: the same marker for the same one
MARKERS = {0.8: "o", 1.0: "s", 1.2: "+"}

#: of the runs of figure 5.9, and how half-way walls are drawn
_COLOURS = {"single, deviations": BLUE, "single, plain": VERMILLION}


def flow_section(velocity: np.ndarray, solid: np.ndarray, title: str):
    """Velocity along x over the Darcy velocity, and streamlines, in the mid-plane z (figure 5.6).

    Streamlines are of the velocity in the plane; they end where solid begins.
    """
    middle = solid.shape[0] // 2
    u, v = (np.ma.masked_where(solid[middle], component[middle]) for component in velocity[:2])
    figure, axes = plt.subplots(figsize=(5.6, 4.6))
    axes.set_facecolor("0.75")
    shade = axes.pcolormesh(u, cmap="cividis", rasterized=True)
    y, x = np.indices(u.shape) + 0.5
    axes.streamplot(x, y, u, v, color="white", linewidth=0.6, density=1.1, arrowsize=0.7)
    axes.set(xlabel="x (voxels)", ylabel="y (voxels)", aspect="equal", xlim=(0, u.shape[1]), ylim=(0, u.shape[0]))
    axes.set_title(title)
    axes.grid(False)
    figure.colorbar(shade, label="velocity along x / Darcy velocity", shrink=0.85)
    return figure, {"u on the axis": velocity[0, middle, velocity.shape[2] // 2]}


def permeability_over_porosity(table: pd.DataFrame, published: pd.DataFrame, coefficients):
    """k over porosity for each relaxation time beside the paper's points (figures 5.7, 5.8), and both over the series.

    `table` is from `permeability.curve`, `published` has figure, series, x and y.
    """
    series = partial(series_over_porosity, side=PAPER_NODES, coefficients=coefficients)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.3))
    fine = np.linspace(table["porosity"].min(), table["porosity"].max(), 101)
    left.semilogy(fine, series(fine), color="black", marker="none", lw=1, label="series")
    right.axhline(0, color="black", lw=1, marker="none")
    for (tau, rows), colour in zip(table.groupby("tau"), (BLUE, VERMILLION, GREEN, PURPLE), strict=False):
        drawn = {"color": colour, "marker": MARKERS.get(tau, "."), "lw": 1.2, "label": rf"this run, $\tau = {tau:g}$"}
        left.plot(rows["porosity"], rows["k"], **drawn)
        right.plot(rows["porosity"], 100 * (rows["k"] / series(rows["porosity"]) - 1), **drawn)
    points = published[published["series"].str.startswith("tau=")]
    for name, rows in points.groupby("series"):
        tau = float(name.removeprefix("tau="))
        drawn = PAPER | {"marker": MARKERS[tau], "markersize": 9 if tau == 1.2 else 5}
        left.plot(rows["x"], rows["y"], **drawn, label=rf"paper, $\tau = {tau:g}$")
        right.plot(rows["x"], 100 * (rows["y"] / series(rows["x"]) - 1), **drawn)
    left.set(xlabel="porosity", ylabel="k (squared voxels, cell of 128)")
    right.set(xlabel="porosity", ylabel="k against the series (%)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    collision, number = table["collision"].iloc[0].upper(), published["figure"].iloc[0].split()[0]
    figure.suptitle(f"figure {number}: {collision}", fontsize=10)
    return figure, {name: table[name] for name in ("porosity", "tau", "k")}


def viscosity_dependence(table: pd.DataFrame):
    """k over the relaxation time, each over its value at the largest, one line a collision and wall."""
    figure, axes = plt.subplots(figsize=(5.8, 3.6))
    for (collision, walls), rows in table.groupby(["collision", "walls"], sort=False):
        rows = rows.sort_values("tau")
        axes.plot(rows["tau"], 100 * (rows["k"] / rows["k"].iloc[0] - 1), label=f"{collision.upper()}, {walls}")
    smallest = table["tau"].min()
    axes.set(xlabel=r"relaxation time $\tau$", ylabel=rf"k against its value at $\tau = {smallest:g}$ (%)")
    axes.set_title(rf"$\chi = {table['chi'].iloc[0]:g}$, {table['nodes'].iloc[0]} voxels a side")
    axes.legend()
    return figure, {"tau": table["tau"], "k": table["k"]}


def changes(table: pd.DataFrame, published: pd.DataFrame):
    """Change of k from tau = 0.8 to 1 over chi: the paper's, and one line a variant, from `variants.changes`.

    `published` is from `variants.paper_changes`. A variant that lies on that with nothing changed, on its grid, is left
    out.
    """
    figure, axes = plt.subplots(figsize=(7.4, 4.4))
    axes.axhline(0, color="black", lw=1, marker="none")
    chis = table.columns.to_numpy(float)
    for name, row in different(table).drop(PAPER_ROW).iterrows():
        axes.plot(chis, row, label=name)
    own = {"color": "black", "ls": "none", "marker": "o", "ms": 8, "markerfacecolor": "none", "zorder": 5}
    axes.plot(published["chi"], published["change with BGK (%)"], label=PAPER_ROW, **own)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_title("logarithmic beyond one per cent, linear within", fontsize="small")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=r"$\chi$", ylabel="change of k from\n" + r"$\tau = 0.8$ to 1 with BGK (%)")
    figure.legend(loc="outside lower center", ncols=2)
    return figure, {"chi": chis, "change": table.to_numpy(float)}


def convergence(runs: dict, published: pd.DataFrame, scale: float):
    """k over the steps beside the paper's two curves (figure 5.9), and what single precision differs by on the way.

    `runs` are those of `precision.precision_runs`, `scale` takes their k and their steps, of which diffusion needs as
    many more, to a cell of 128 voxels. On the left those of
    one precision are drawn for each wall: the others lie on them, as the right shows.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.4))
    curves = {name: rows.set_index("x")["y"] for name, rows in published.groupby("series")}
    for (name, rows), marker in zip(curves.items(), ("o", "s"), strict=True):
        left.plot(rows.index, rows, **PAPER | {"markersize": 4, "marker": marker}, label=f"paper, {name}")
    arrays, walls = {}, list(dict.fromkeys(name.rpartition(", ")[2] for name in runs))
    # black on the left, where no kind of single precision is drawn: one legend is for both
    for wall, line in zip(walls, ("-", "--"), strict=False):
        steps, k = np.array(of_walls(runs, wall)[0].result.history).T
        left.plot(scale * steps, scale * k, color="0.3", ls=line, marker="none", label=f"double, {wall} walls")
        arrays[f"k double, {wall}"] = scale * k
        for kind, found in differences(runs, wall).items():
            drawn = {"color": _COLOURS[kind], "ls": line, "marker": "none"}
            right.plot(scale * found.index, 100 * found, **drawn, label=f"{kind}, {wall} walls")
            arrays[f"difference {kind}, {wall}"] = found
    theirs = paper_difference(published)
    right.plot(theirs.index, 100 * theirs, **PAPER | {"marker": "s", "markersize": 4})
    right.axhline(0, color="black", lw=0.8, marker="none")
    right.set_yscale("symlog", linthresh=1e-3)
    right.set_ylim(-5, None)
    steady = [curves["single"].max(), *(found[-1] for name, found in arrays.items() if name.startswith("k "))]
    left.set(xlabel="time steps", ylabel="k (squared voxels)", ylim=(0.9 * min(steady), 1.03 * max(steady)))
    right.set(xlabel="time steps", ylabel="$k/k_{double} - 1$ at the same step (%)")
    for axes in (left, right):
        axes.xaxis.set_major_locator(plt.MaxNLocator(5))
    named = [axes.get_legend_handles_labels() for axes in (left, right)]
    handles, labels = ([*first, *second] for first, second in zip(*named, strict=True))
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure, arrays


def sections(solid: np.ndarray, title: str):
    """The middle plane of an image along each axis, solid dark; the array is the porosity."""
    figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.2))
    for axis, (axes, (across, up)) in enumerate(zip(panels, (("x", "y"), ("x", "z"), ("y", "z")), strict=True)):
        axes.imshow(np.take(solid, solid.shape[axis] // 2, axis), cmap="Greys", origin="lower", vmin=0, vmax=1.4)
        axes.set(xlabel=f"{across} (voxels)", ylabel=f"{up} (voxels)")
        axes.grid(False)
    figure.suptitle(title, fontsize=10)
    return figure, {"porosity": 1 - np.mean(solid)}
