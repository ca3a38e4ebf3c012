"""Figures of the cavity and the duct."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers import speed as speeds
from repro.papers.style import ORANGE, OURS, PAPER, VERMILLION

from .cavity import Flow
from .duct import DuctFlow, velocity_as_printed

#: stream function levels that show all three vortices (Ghia, Ghia, Shin 1982, table III)
_LEVELS = (-0.11, -0.1, -0.09, -0.07, -0.05, -0.03, -0.01, -1e-3, -1e-5, 1e-6, 1e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3)


#: what Ghia's table has wrong
_MISPRINT = {"linestyle": "none", "marker": "x", "color": VERMILLION, "markersize": 8, "markeredgewidth": 2}

#: where the vortices are
_PLACES = {"primary": "primary", "BR1": "bottom right, BR1", "BL1": "bottom left, BL1"}

#: half the width and height of an inset about a vortex
_NEAR = 0.006


def streamlines(flow: Flow, centres: pd.DataFrame, others: dict[str, pd.DataFrame]):
    """Streamlines of the cavity, its vortex centres, and `others` by name, the paper's first (figure 4.3b)."""
    figure = plt.figure(figsize=(8.4, 5.4))
    places = figure.add_gridspec(3, 2, width_ratios=(3.4, 1))
    axes = figure.add_subplot(places[:, 0])
    speed = np.hypot(flow.u, flow.v)
    shade = axes.pcolormesh(flow.x, flow.y, speed, cmap="cividis", vmin=0, vmax=0.6, shading="gouraud", rasterized=True)
    lines = {"levels": _LEVELS, "colors": "white", "linewidths": 0.7, "linestyles": "solid"}
    axes.contour(flow.x, flow.y, flow.stream_function, **lines)
    figure.colorbar(shade, ax=axes, label="|u| / U (lid speed)", location="left", shrink=0.85, extend="max")
    for k, (vortex, x, y) in enumerate(zip(centres["vortex"], centres["x"], centres["y"], strict=True)):
        axes.plot(x, y, "+", color=ORANGE, markersize=11, markeredgewidth=1.8)
        inset = figure.add_subplot(places[k, 1])
        for (name, table), marker in zip(others.items(), "os", strict=False):
            inset.plot(table["x"], table["y"], **PAPER | {"marker": marker, "markersize": 8}, label=name)
        inset.plot(x, y, "+", color=VERMILLION, markersize=11, markeredgewidth=1.8, label="this run")
        inset.set(xlim=(x - _NEAR, x + _NEAR), ylim=(y - _NEAR, y + _NEAR), aspect="equal", title=_PLACES[vortex])
        inset.locator_params(nbins=3)
    axes.set(xlabel="x / L", ylabel="y / L", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    axes.grid(False)
    axes.set_title(f"Re = {flow.case.reynolds:g}, {flow.case.nodes} x {flow.case.nodes} nodes")
    if len(centres):
        figure.legend(*inset.get_legend_handles_labels(), loc="outside lower right", ncols=3)
    return figure, {"x": centres["x"], "y": centres["y"]}


def centre_lines(comparisons: dict, flows: dict):
    """u on the vertical and v on the horizontal centre line against Ghia's, one column a Reynolds number."""
    figure, axes = plt.subplots(2, len(flows), figsize=(3.1 * len(flows) + 0.6, 5.8), squeeze=False)
    fine = np.linspace(0, 1, 401)
    for column, (reynolds, flow) in enumerate(flows.items()):
        for row, (component, name) in enumerate((("u", "y / L"), ("v", "x / L"))):
            panel, frame = axes[row, column], comparisons[reynolds, component]
            wrong = frame["misprinted"]
            panel.plot(fine, flow.centre_line(component, fine), **OURS, label="this run")
            panel.plot(frame["position"][~wrong], frame["ghia"][~wrong], **PAPER, label="Ghia et al. 1982")
            panel.plot(frame["position"][wrong], frame["ghia"][wrong], **_MISPRINT)
            panel.set(xlabel=name, ylabel=f"{component} / U")
        axes[0, column].set_title(f"Re = {reynolds:g}")
    handles, names = axes[0, 0].get_legend_handles_labels()
    if any(frame["misprinted"].any() for frame in comparisons.values()):
        handles, names = [*handles, plt.Line2D([], [], **_MISPRINT)], [*names, "misprinted there"]
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    return figure, {f"{name} Re {reynolds:g}": frame["ours"] for (reynolds, name), frame in comparisons.items()}


def convergence(flows: dict):
    """The change of the velocity over 1000 steps, equation 4.2, of each flow by its Reynolds number."""
    figure, axes = plt.subplots(figsize=(5.6, 3.4))
    arrays = {}
    for name, flow in ((f"Re {reynolds:g}", flow) for reynolds, flow in flows.items()):
        steps, arrays[name] = np.array(flow.convergence.history).T
        axes.semilogy(steps, arrays[name], marker="none", label=name)
    axes.axhline(1e-6, color="black", linestyle="--", linewidth=1, label="criterion of equation 4.2")
    axes.set(xlabel="time steps", ylabel="relative change of velocity\nover 1000 steps")
    axes.legend()
    return figure, arrays


def speed_against_block(table: pd.DataFrame, published: pd.DataFrame):
    """Speed over block size, one line a grid (of a duct by its NY): the paper's figure beside ours."""
    figure, left, right, scale = speeds.paper_and_ours(table, "mlups", (8.6, 3.6))
    for series, rows in published.groupby("series", sort=False):
        square = re.sub(r"grid N=(\d+).*", r"\1 x \1", series)
        left.plot(rows["x"].astype(int).astype(str), rows["y"], label=square)
    sizes = "NY=" + table["NY"].astype(str) if "NY" in table else table["size"]
    for size, rows in table.groupby(sizes, sort=False):
        right.plot(rows["block"].astype(str), rows["mlups"] / scale, label=size)
    speeds.from_zero(left, right, "threads a block", 1.06)
    left.legend(loc="lower left", ncols=2)
    right.legend(loc="lower left", ncols=2)
    return figure, {name: table[name] for name in ("block", "NY", "mlups") if name in table}


def duct_profile(flow: DuctFlow, published: pd.DataFrame):
    """The section's velocity, and its profile on y = 0 with the series and the paper's points (figures 4.5, 4.6)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9), width_ratios=(1.1, 1.2))
    figure.get_layout_engine().set(wspace=0.08)
    nodes, fine = flow.case.positions / flow.case.side, np.linspace(-0.5, 0.5, 201)
    filled = left.contourf(nodes, nodes, flow.velocity, levels=12, cmap="cividis")
    left.set(xlabel="x / a", ylabel="y / a", aspect="equal")
    figure.colorbar(filled, ax=left, label="$u / U_0$", shrink=0.85)
    right.plot(fine, flow.profile(fine), **OURS, label="this run")
    right.plot(published["x"], published["y"], **PAPER | {"markersize": 4}, label="paper, figure 4.6")
    right.set(xlabel="x / a", ylabel="$u / U_0$ on $y = 0$", xlim=(-0.55, 0.55))
    right.legend(loc="lower center")
    return figure, {"x": nodes, "u": flow.profile(nodes)}


def printed_equation(flow: DuctFlow, published: pd.DataFrame):
    """Equation 4.3 as printed beside the computed profile on y = 0 and, as it vanishes there, on y = a/4."""
    figure, axes = plt.subplots(figsize=(5.6, 3.4))
    fine = np.linspace(-0.5, 0.5, 201)
    axes.plot(fine, flow.profile(fine), **OURS, label="this run, y = 0")
    for y, name, style in ((0.0, "0", "-"), (0.25, "a/4", "--")):
        printed = velocity_as_printed(flow.case, fine, y)
        axes.plot(fine, printed, marker="none", color=VERMILLION, ls=style, label=f"as printed, y = {name}")
    axes.set(xlabel="x / a", ylabel="$u / U_0$")
    figure.legend(loc="outside lower center", ncols=3)
    at = published["x"]
    return figure, {"x": at, "as printed, y = a/4": velocity_as_printed(flow.case, at, 0.25)}


def orders(table: pd.DataFrame):
    """Error over grid spacing for each wall scheme, with slopes one and two."""
    figure, axes = plt.subplots(figsize=(5.6, 4.0))
    for scheme, rows in table.groupby("walls", sort=False):
        axes.loglog(rows["side"], rows["error"], label=scheme)
    side = np.array([table["side"].min(), table["side"].max()])
    for order, anchor in ((1, 1.5 * table["error"].max()), (2, 0.6 * table["error"].min() * (side[1] / side[0]) ** 2)):
        slope = anchor * (side / side[0]) ** -order
        axes.loglog(side, slope, color="grey", ls=":", marker="none", lw=1)
        beyond = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(f"order {order}", (side[1], slope[1]), color="grey", annotation_clip=False, **beyond)
    axes.set(xlabel="side of the duct (grid spacings)", ylabel="relative error against the series")
    figure.legend(loc="outside lower center", ncols=4)
    return figure, {f"{scheme} error": rows["error"] for scheme, rows in table.groupby("walls")}
