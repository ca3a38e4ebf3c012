"""Figures of the notebooks on flow in porous media."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import BLUE, GREEN, PAPER, PURPLE, VERMILLION

from .precision import changes as changes_of
from .precision import paper_change, predicted_change, settled
from .variants import BASE, PAPER_ROW, different

#: of the paper's points and of ours, by relaxation time: the same marker for the same one
MARKERS = {0.8: "o", 1.0: "s", 1.2: "+"}

#: of the runs of figure 5.9
_COLOURS = {"double": "0.4", "single, deviations": BLUE, "single, plain": VERMILLION}


def flow_section(velocity: np.ndarray, solid: np.ndarray, title: str):
    """Velocity along x over the Darcy velocity, and streamlines in the mid-plane z to the solid (figure 5.6)."""
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


#: of the readings of figures 5.7 and 5.8: the collision, and the colour of a cell of each length
_READINGS = {
    "bgk": ("BGK", {128: BLUE, 127: VERMILLION}),
    "mrt": ("two rates", {128: BLUE, 127: VERMILLION}),
    "mrt-dhumieres": ("rates of d'Humieres and others", {128: GREEN, 127: PURPLE}),
}


def off_paper(points: pd.DataFrame, number: str):
    """How far k is from the points of the paper's figure, a colour a reading and a marker a relaxation time."""
    figure, axes = plt.subplots(figsize=(7.2, 4.2))
    axes.axhline(0, color="black", lw=1, marker="none", label=f"paper, figure {number}")
    for (collision, length), rows in points.sort_values("chi").groupby(["collision", "length"], sort=False):
        name, colours = _READINGS[collision]
        for tau, at in rows.groupby("tau"):
            drawn = {"color": colours[length], "marker": MARKERS.get(tau, "."), "lw": 0.8}
            drawn["label"] = f"{name}, {length} voxels" if tau == rows["tau"].min() else None
            axes.plot(at["chi"], at["off (%)"], **drawn)
    for tau in sorted(points["tau"].unique()):
        axes.plot([], [], color="0.4", ls="none", marker=MARKERS.get(tau, "."), label=rf"$\tau = {tau:g}$")
    axes.set(xlabel=r"$\chi$ (1 where the spheres touch)", ylabel="k over the paper's, less one (%)")
    figure.legend(loc="outside lower center", ncols=2)
    return figure, {name: points[name] for name in ("chi", "tau", "length", "off (%)")}


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
    """Change of k from tau = 0.8 to 1 over chi: the paper's beside our program as it is, and with one thing changed.

    `table` is from `variants.changes` and `published` from `variants.paper_changes`. A variant that lies on that with
    nothing changed, on its grid, is left out.
    """
    figure, panels = plt.subplots(1, 2, sharey=True, figsize=(8.4, 4.4))
    chis, own = table.columns.to_numpy(float), PAPER | {"markersize": 8, "zorder": 5}
    for axes in panels:
        axes.axhline(0, color="black", lw=1, marker="none")
        axes.plot(published["chi"], published["change with BGK (%)"], label=PAPER_ROW, **own)
        axes.set_xlabel(r"$\chi$")
    for name, row in different(table).drop(PAPER_ROW).iterrows():
        panels[0 if name.startswith(BASE) else 1].plot(chis, row, label=name)
    panels[0].set_title(BASE)
    panels[1].set_title("with one thing changed")
    panels[0].set_ylabel("change of k from\n" + r"$\tau = 0.8$ to 1 with BGK (%)")
    for axes in panels:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=8)
    return figure, {"chi": chis, "change": table.to_numpy(float)}


def convergence(runs: dict, published: pd.DataFrame, scale: float):
    """k over the steps beside the paper's two curves (figure 5.9).

    `runs` are those of `precision.precision_runs`, `scale` takes their k and their steps, of which diffusion needs as
    many more, to a cell of 128 voxels.
    """
    figure, axes = plt.subplots(figsize=(6.4, 4.0))
    for (name, rows), marker in zip(published.groupby("series"), ("o", "s"), strict=True):
        axes.plot(rows["x"], rows["y"], **PAPER | {"markersize": 4, "marker": marker}, label=f"paper, {name}")
    arrays = {}
    for name in ("double", "single, plain"):
        steps, k = np.array(runs[name].result.history).T
        axes.plot(scale * steps, scale * k, color=_COLOURS[name], marker="none", label=f"this run, {name}")
        arrays[f"k {name}"] = scale * k
    last = [published["y"].max(), *(k[-1] for k in arrays.values())]
    axes.set(xlabel="time steps", ylabel="k (squared voxels)", ylim=(0.9 * min(last), 1.03 * max(last)))
    axes.xaxis.set_major_locator(plt.MaxNLocator(5))
    figure.legend(loc="outside lower center", ncols=2)
    return figure, arrays


def single_changes(runs: dict, published: pd.DataFrame, scale: float, predicted: float):
    """What single precision changes k by, at the same step: the paper's curve, ours, and the rounding of the force."""
    figure, axes = plt.subplots(figsize=(6.4, 4.0))
    theirs, arrays = paper_change(published), {}
    axes.plot(theirs.index, theirs, **PAPER | {"marker": "s", "markersize": 4}, label="paper")
    for name, found in changes_of(runs).items():
        axes.plot(scale * found.index, found, color=_COLOURS[name], marker="none", label=f"this run, {name}")
        arrays[f"change, {name}"] = found
    axes.axhline(predicted, color="black", lw=1, ls="--", marker="none", label="force rounded, nothing else")
    axes.set(xlabel="time steps", ylabel="$k/k_{double} - 1$ at the same step (%)")
    axes.xaxis.set_major_locator(plt.MaxNLocator(5))
    figure.legend(loc="outside lower center", ncols=2)
    return figure, arrays


def rounded_forces(scan: pd.DataFrame, published: pd.DataFrame):
    """What plain populations change k by over the force: rounding alone, `precision.force_scan`, the paper dashed."""
    figure, axes = plt.subplots(figsize=(7.2, 4.0))
    fine = np.linspace(0.9 * scan["force"].min(), 1.05 * scan["force"].max(), 4001)
    look = {"color": "0.5", "lw": 0.8, "marker": "none", "label": "force rounded, nothing else"}
    axes.plot(1e7 * fine, predicted_change(fine), **look)
    axes.plot(1e7 * scan["force"], scan["measured (%)"], "o", color=VERMILLION, label="this run, plain populations")
    paper = settled(published)["mean"]
    axes.axhline(paper, color="black", lw=1, ls="--", marker="none", label="paper, force not stated")
    axes.set(xlabel="force in units of $10^{-7}$ (lattice units)", ylabel="$k/k_{double} - 1$ (%)")
    figure.legend(loc="outside lower center", ncols=3)
    return figure, {name: scan[name] for name in ("force", "predicted (%)", "measured (%)")}


def sections(solid: np.ndarray, title: str):
    """The middle plane of an image along each axis, solid dark; the array is the porosity."""
    figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.2))
    for axis, (axes, (across, up)) in enumerate(zip(panels, (("x", "y"), ("x", "z"), ("y", "z")), strict=True)):
        axes.imshow(np.take(solid, solid.shape[axis] // 2, axis), cmap="Greys", origin="lower", vmin=0, vmax=1.4)
        axes.set(xlabel=f"{across} (voxels)", ylabel=f"{up} (voxels)")
        axes.grid(False)
    figure.suptitle(title, fontsize=10)
    return figure, {"porosity": 1 - np.mean(solid)}
