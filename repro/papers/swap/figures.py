"""Figures of the swap notebooks.

Each function returns (figure, arrays): the arrays are the numbers that the figure shows, by name.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

from repro.lbm.lattice import D3Q19
from repro.lbm.parameters import Grid
from repro.lbm.strategies.swap.rule import Source, make_source
from repro.papers.style import BLUE, GREEN, ORANGE, PAPER, SKY_BLUE, VERMILLION, look

from .cavity3d import CubicFlow
from .claims import LARGEST, PAPER_NODES, Paper
from .iteration import COLLIDE_ONLY, PALABOS, PAPER_WAY
from .sketches import TYPE_COLOURS
from .tables import CLOSED, PAPER_DIRECTIONS

#: kinds of parts of an iteration from the left, with their colours: collision and streaming, copies, and the rest
_KINDS = {
    "collision and streaming in one": VERMILLION,
    "collision": ORANGE,
    "streaming": GREEN,
    "bus": SKY_BLUE,
    "cells to arrays and back": BLUE,
    "boundary nodes": "0.5",
    "rest of Palabos": "0.8",
}
_KIND_OF = {"bulk": 0, "collide": 1, "stream": 2, "bulk stream": 2, "to the GPU": 3, "to the host": 3}
_KIND_OF |= {"pack": 4, "unpack": 4, "boundary": 5, "boundary collision": 5, "boundary stream": 5, "rest": 6}


def rays(interior: int):
    """Rays and the types of their nodes in a plane of the grid, boundary nodes as squares (figures 5 to 7).

    The axes are the paper's: x, which is the slowest in memory, has the lattice's z.
    """
    figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.7))
    extent, source = interior + 2, make_source(CLOSED)
    grid = Grid.packed((3, extent, extent))
    # the three ways in which rays lie in a plane (figure 5), by numbers of the paper's directions
    ways = {"along an axis": 1, "along a diagonal": 4, "across a diagonal": 5}
    for axes, (title, number) in zip(panels, ways.items(), strict=True):
        direction = PAPER_DIRECTIONS[number - 1]
        i = D3Q19.velocities.index(direction[::-1])
        for x in range(extent):
            for y in range(extent):
                kind = Source(source(i, 1, y, x, grid)).name
                _draw_node(axes, x, y, direction, kind, extent)
        axes.set(title=f"pair {number}, {title}", xlabel="x (nodes)", ylabel="y (nodes)", aspect="equal")
        axes.set(xlim=(-0.6, extent - 0.4), ylim=(-0.6, extent - 0.4), xticks=range(extent), yticks=range(extent))
        axes.grid(False)
    figure.suptitle("circles: interior, squares: boundary nodes, arrows: the sweep's order, against $c_i$", fontsize=10)
    return figure, {"interior nodes a side": interior}


def _draw_node(axes, x, y, velocity, kind, extent):
    inside = 0 < x < extent - 1 and 0 < y < extent - 1
    if inside:
        style = {"arrowstyle": "->", "color": "0.4", "shrinkA": 6, "shrinkB": 7}
        axes.annotate("", (x, y), (x + velocity[0], y + velocity[1]), arrowprops=style)
    colour = TYPE_COLOURS.get(kind, "white")
    axes.plot(x, y, "o" if inside else "s", ms=13, mfc=colour, mec="0.4", mew=0.8, zorder=3)
    if kind != "NONE":
        axes.text(x, y, kind, ha="center", va="center", color="white", fontsize=8, weight="bold", zorder=4)


def profiles(flows: list[CubicFlow], table: pd.DataFrame):
    """u on the vertical and v on the horizontal centre line of several grids with published points.

    Below, on an axis of its own, what is too small to be seen above: the profiles of each grid minus the published
    points, or without points the coarser grids minus the finest.
    """
    figure, panels = plt.subplots(2, 2, figsize=(9.0, 6.0), height_ratios=(1.5, 1), sharex="col")
    fine, last = np.linspace(0, 1, 401), flows[-1]
    for (above, below), component, along in zip(panels.T, ("u", "v"), ("y / L", "x / L"), strict=True):
        points = table[table["component"] == component]
        for number, flow in enumerate(flows):
            line, name = look(number) | {"marker": "none"}, f"this run, {flow.case.nodes}$^3$"
            profile = flow.centre_line(component, fine)
            above.plot(fine, profile, **line, label=name, linestyle=("-", "--", ":")[number % 3])
            if len(points):
                apart = flow.centre_line(component, points["position"]) - points["velocity"]
                below.plot(points["position"], apart, **look(number))
            elif flow is not last:
                below.plot(fine, profile - last.centre_line(component, fine), **line)
        if len(points):
            above.plot(points["position"], points["velocity"], **PAPER, label="Albensoeder and Kuhlmann 2005")
        above.set(ylabel=f"{component} / U")
        subtrahend = "grid minus published" if len(points) else f"grid minus {last.case.nodes}$^3$"
        below.set(xlabel=along, ylabel=f"{component} / U, {subtrahend}")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle(f"Re = {flows[0].case.reynolds:g}: u at x = z = L/2, v at y = z = L/2", fontsize=10)
    return figure, {f"{name} {f.case.nodes}": f.centre_line(name, f.positions) for f in flows for name in "uv"}


def middle_planes(flow: CubicFlow):
    """Flow in the middle plane along the lid's motion, and the secondary flow in the plane across it."""
    figure, panels = plt.subplots(1, 2, figsize=(9.4, 4.2))
    at = flow.positions
    for axes, axis, (across, up), names in ((panels[0], "z", (0, 1), "xy"), (panels[1], "x", (2, 1), "zy")):
        plane = flow.plane(axis)
        plane = plane if axis == "z" else plane.transpose(0, 2, 1)
        speed = np.hypot(plane[across], plane[up])
        top = float(np.quantile(speed, 0.995))
        shade = axes.pcolormesh(at, at, speed, cmap="cividis", vmin=0, vmax=top, shading="gouraud", rasterized=True)
        axes.streamplot(at, at, plane[across], plane[up], color="white", linewidth=0.6, density=1.1, arrowsize=0.7)
        axes.set(xlabel=f"{names[0]} / L", ylabel=f"{names[1]} / L", aspect="equal", xlim=(0, 1), ylim=(0, 1))
        axes.set_title(f"middle plane across {axis}")
        axes.grid(False)
        figure.colorbar(shade, ax=axes, label="speed in the plane / U", shrink=0.85, extend="max")
    about = f"Re = {flow.case.reynolds:g}, {flow.case.nodes}$^3$ nodes"
    figure.suptitle(f"{about}; lid at y = L, moving along x", fontsize=10)
    u, v, _ = flow.plane("z")[:, ::4, ::4]
    return figure, {"u": u, "v": v}


def iteration_shares(parts: pd.DataFrame, nodes: int, stated: Paper):
    """Shares of the parts of an iteration, a bar a way, with the paper's on its grid (figure 8)."""
    rows = parts[parts["nodes"] == nodes].assign(kind=parts["part"].map(_KIND_OF))
    table = rows.pivot_table(index="way", columns="kind", values="seconds", aggfunc="sum", sort=False, fill_value=0.0)
    shares = 100 * table[sorted(table)].div(table.sum(axis=1), axis=0)
    shares.columns = [list(_KINDS)[kind] for kind in shares]
    left = shares.cumsum(axis=1) - shares
    figure, axes = plt.subplots(figsize=(8.4, 0.5 * len(shares) + 1.9))
    for name in shares:
        axes.barh(shares.index, shares[name], 0.7, left[name], color=_KINDS[name], label=name)
    claimed = {way: 100 * share for way, share in stated.shares.items() if way in shares.index and nodes == PAPER_NODES}
    if claimed:
        look = PAPER | {"marker": "|", "markersize": 30, "markeredgewidth": 3, "label": "paper: where grey begins"}
        axes.plot(list(claimed.values()), list(claimed), **look)
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel="share of an iteration (%)", title=f"{nodes}$^3$ nodes, double precision")
    axes.grid(axis="y", visible=False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, markerscale=0.4)
    return figure, {way: shares.loc[way] for way in shares.index} | {"paper": list(claimed.values())}


def over_sizes(table: pd.DataFrame, stated: Paper):
    """Speed of each way, and speedup over Palabos where it was timed, over the grid size (figures 9 and 10)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.5))
    for way, rows in table.groupby("way", sort=False):
        left.plot(rows["nodes"], rows["mlups"], label=way)
        right.plot(rows["nodes"], rows[f"over {PALABOS}"])
    for way, marker in ((PALABOS, "o"), (COLLIDE_ONLY, "s"), (PAPER_WAY, "^")):
        look = PAPER | {"marker": marker, "markersize": 8}
        if way in stated.seconds:
            left.plot([PAPER_NODES], [PAPER_NODES**3 / stated.seconds[way] / 1e6], **look, label=f"paper: {way}")
        speedups = stated.speedups.get(way, {})
        right.plot(list(speedups), list(speedups.values()), **look)
    if PALABOS not in set(table["way"]):
        told = "only the paper's points:\nPalabos is not built here"
        right.text(0.5, 0.6, told, transform=right.transAxes, ha="center")
    sizes = sorted({*table["nodes"], PAPER_NODES, LARGEST})
    for axes, label in ((left, "speed (MLUPS)"), (right, "speedup over Palabos on one core")):
        axes.set(xscale="log", yscale="log", xlabel="nodes a side", ylabel=label)
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.tick_params(axis="x", which="minor", bottom=False)
        axes.xaxis.set_minor_formatter(NullFormatter())
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure, {f"{way} mlups": rows["mlups"] for way, rows in table.groupby("way")}
