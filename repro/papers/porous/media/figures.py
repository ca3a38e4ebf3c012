"""Figures of the notebooks on porous media. `paper` and `ours` are the keyword dictionaries of the plotting style.

Each function returns (figure, arrays): the arrays are the numbers that the figure shows, by name.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLUE

#: labels of the ratios of figures 5.11 and 5.12
_RATIOS = {"drop": "slower than BGK (%)", "share": "double over single precision (%)"}


def flow_section(velocity: np.ndarray, solid: np.ndarray, title: str):
    """Velocity along x over the Darcy velocity, and streamlines, in the mid-plane z (figure 5.6)."""
    middle = solid.shape[0] // 2
    u, v = (np.where(solid[middle], np.nan, component[middle]) for component in velocity[:2])
    figure, axes = plt.subplots(figsize=(5.6, 4.6))
    axes.set_facecolor("0.75")
    shade = axes.pcolormesh(u, cmap="cividis", rasterized=True)
    y, x = np.indices(u.shape) + 0.5
    axes.streamplot(x, y, np.nan_to_num(u), np.nan_to_num(v), color="white", linewidth=0.6, density=1.1, arrowsize=0.7)
    axes.set(xlabel="x (voxels)", ylabel="y (voxels)", aspect="equal", xlim=(0, u.shape[1]), ylim=(0, u.shape[0]))
    axes.set_title(title)
    axes.grid(False)
    figure.colorbar(shade, label="velocity along x / Darcy velocity", shrink=0.85)
    return figure, {"u on the axis": velocity[0, middle, velocity.shape[2] // 2]}


def permeability_over_porosity(table: pd.DataFrame, published: pd.DataFrame, series, paper: dict, title: str):
    """k over porosity for each relaxation time beside the paper's points, and both over the series.

    `table` has porosity, tau and k in squared voxels of a cell of 128 voxels, `published` has series, x and y;
    series(porosity) is the analytical k.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.9))
    fine = np.linspace(table["porosity"].min(), table["porosity"].max(), 101)
    left.semilogy(fine, series(fine), color="black", marker="none", lw=1, label="series")
    points = published[published["series"].str.startswith("tau")]
    left.plot(points["x"], points["y"], **paper, label="paper, all tau")
    right.plot(points["x"], 100 * (points["y"] / series(points["x"]) - 1), **paper, label="paper, all tau")
    for tau, rows in table.groupby("tau"):
        left.plot(rows["porosity"], rows["k"], label=f"this run, tau = {tau:g}", lw=1.2)
        right.plot(rows["porosity"], 100 * (rows["k"] / series(rows["porosity"]) - 1), label=f"this run, tau = {tau:g}")
    right.axhline(0, color="black", lw=1)
    left.set(xlabel="porosity", ylabel="k (squared voxels, cell of 128)")
    right.set(xlabel="porosity", ylabel="k against the series (%)")
    left.legend()
    figure.suptitle(title, fontsize=10)
    return figure, {name: table[name] for name in ("porosity", "tau", "k")}


def viscosity_dependence(table: pd.DataFrame):
    """k over the relaxation time, each over its value at the largest, one line a collision and wall."""
    figure, axes = plt.subplots(figsize=(5.8, 3.6))
    for (collision, walls), rows in table.groupby(["collision", "walls"], sort=False):
        rows = rows.sort_values("tau")
        axes.plot(rows["tau"], 100 * (rows["k"] / rows["k"].iloc[-1] - 1), label=f"{collision.upper()}, {walls}")
    axes.set(xlabel="relaxation time", ylabel="k against its value at\nthe largest relaxation time (%)")
    axes.legend()
    return figure, {"tau": table["tau"], "k": table["k"]}


def convergence(runs: dict, published: pd.DataFrame, paper: dict):
    """k over the steps for named runs (name: history) beside the paper's two curves, whole and near the end (5.9)."""
    figure, panels = plt.subplots(1, 2, figsize=(9.4, 4.0))
    for axes in panels:
        for (name, rows), face in zip(published.groupby("series"), ("none", "0.6"), strict=False):
            axes.plot(
                rows["x"], rows["y"], **paper | {"markersize": 4, "markerfacecolor": face}, label=f"paper, {name}"
            )
        for name, history in runs.items():
            steps, k = np.array(history).T
            style = {"linestyle": "--"} if "plain" in name else {}
            axes.plot(steps, k, marker="none", label=name, **style)
        axes.set(xlabel="time steps", ylabel="k (squared voxels)")
    final = [history[-1][1] for history in runs.values()] + [published["y"].max()]
    panels[1].set_ylim(min(final) - 0.03 * max(final), 1.02 * max(final))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure, {f"k {name}": [k for _, k in history] for name, history in runs.items()}


def speed_over_porosity(table: pd.DataFrame, published: pd.DataFrame, column: str):
    """Speed over porosity, "mlups" or "mflups", one line a strategy: the paper's figure 5.10 beside ours."""
    unit = column.upper()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.7))
    for name, rows in published.groupby("series", sort=False):
        left.plot(rows["x"], rows["y"], label=name.split(" (")[0])
    thousands = table[column].max() > 5000
    for name, rows in table.groupby("strategy", sort=False):
        rows = rows.sort_values("porosity")
        right.plot(rows["porosity"], rows[column] / (1e3 if thousands else 1), label=name)
    left.set(title="paper: Tesla C1060", xlabel="porosity", ylabel=f"speed ({unit})")
    right.set(title=f"this run: {table['hardware'].iloc[0]}", xlabel="porosity")
    right.set_ylabel(f"speed ({'thousand ' if thousands else ''}{unit})")
    for axes in (left, right):
        axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
        axes.legend()
    return figure, {f"{name} {column}": rows[column] for name, rows in table.groupby("strategy")}


def ratios(table: pd.DataFrame, name: str, published: pd.DataFrame, paper: dict, ours: dict):
    """The column "drop" or "share" of `speed.flag_word_variants` beside the paper's points (figures 5.11, 5.12)."""
    figure, axes = plt.subplots(figsize=(5.6, 3.4))
    rows = table.sort_values("porosity")
    axes.plot(published["x"], published["y"], **paper, label="paper")
    axes.plot(rows["porosity"], rows[name], **ours | {"marker": "s"}, label="this run")
    axes.axhline(0, color="black", lw=0.8)
    axes.set(xlabel="porosity", ylabel=_RATIOS[name])
    axes.legend()
    return figure, {"porosity": table["porosity"], name: table[name]}


def packing_bars(table: pd.DataFrame, hardware: str):
    """Speeds in packings as bars with half their spread, and the share of the copy bandwidth that their bytes take."""
    figure, axes = plt.subplots(figsize=(7.0, 0.4 * len(table) + 1.3))
    spread = table["mflups"] * table["spread"] / 2
    labels = list(table["medium"] + ", " + table["strategy"])
    drawn = axes.barh(labels, table["mflups"], color=BLUE, xerr=spread, error_kw={"elinewidth": 1})
    axes.bar_label(drawn, [f"  {row.mflups:,.0f} ({100 * row.roof:.0f} %)" for row in table.itertuples()], fontsize=9)
    axes.invert_yaxis()
    axes.set(xlabel="speed (MFLUPS; in brackets the share of the copy bandwidth)")
    axes.set_title(f"{hardware}, {table['size'].iloc[0]} voxels, single precision")
    axes.set_xlim(0, 1.35 * table["mflups"].max())
    axes.grid(axis="y", visible=False)
    return figure, {"mflups": table["mflups"], "roof": table["roof"]}


def sections(solid: np.ndarray, title: str):
    """The middle plane of an image along each axis, solid dark; the array is the porosity."""
    figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.2))
    for axis, (axes, (across, up)) in enumerate(zip(panels, (("x", "y"), ("x", "z"), ("y", "z")), strict=True)):
        axes.imshow(np.take(solid, solid.shape[axis] // 2, axis), cmap="Greys", origin="lower", vmin=0, vmax=1.4)
        axes.set(xlabel=f"{across} (voxels)", ylabel=f"{up} (voxels)")
        axes.grid(False)
    figure.suptitle(title, fontsize=10)
    return figure, {"porosity": 1 - np.mean(solid)}
