"""Sketches of chapters 2 and 4, computed: velocity sets (figure 2.1), streaming through shared memory (figures 4.1 and
4.2), and from small cases the cavity (figure 4.3a) and the duct (figure 4.5a)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon, Rectangle

from repro.lbm.cases import Cavity, Duct
from repro.lbm.lattice import D2Q9, D3Q19
from repro.papers.style import BLUE, GREEN, VERMILLION

from .lids import height_over_width

#: nodes a side of the sketches
_CAVITY_NODES, _DUCT_NODES = 8, 9

_ARROW = {"arrowstyle": "->", "lw": 1.8}

#: blocks of the sketch of shared memory, and nodes of each
_BLOCKS, _BLOCK = 3, 4


def velocity_sets():
    """D2Q9 and D3Q19 with the numbers of their velocities; those of D3Q19 plane by plane, as figure 2.1 has them."""
    figure, panels = plt.subplots(1, 4, figsize=(10.4, 3.1))
    sets = [("D2Q9", D2Q9, "xy")]
    sets += [(f"D3Q19, {plane[0]} and {plane[1]}", D3Q19, plane) for plane in ("xy", "xz", "yz")]
    for axes, (title, lattice, plane) in zip(panels, sets, strict=True):
        for i, velocity in enumerate(lattice.velocities):
            components = dict(zip("xyz", velocity, strict=True))
            across, up = (components.pop(axis) for axis in plane)
            if any(components.values()):
                continue
            place, colour = (0.22, 0.36), "black"
            if across or up:
                place, colour = (1.22 * across, 1.22 * up), VERMILLION if across and up else BLUE
                look = _ARROW | {"color": colour, "shrinkA": 4, "shrinkB": 0}
                axes.annotate("", (across, up), (0, 0), arrowprops=look)
            axes.text(*place, str(i), color=colour, ha="center", va="center", weight="bold")
        axes.plot(0, 0, "o", color="black")
        axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), xticks=[], yticks=[], aspect="equal")
        axes.set(xlabel=f"${plane[0]}$", ylabel=f"${plane[1]}$", title=title)
    handles = [plt.Line2D([], [], color=colour, marker="none") for colour in (BLUE, VERMILLION)]
    figure.legend(handles, ["to the next node along an axis", "along a diagonal"], loc="outside lower center", ncols=2)
    return figure, {"D3Q19": np.array(D3Q19.velocities)}


def exchanged(row: np.ndarray, block: int) -> np.ndarray:
    """A periodic row after each block has moved its own one place on: what leaves it lies first in it (figure 4.1)."""
    return np.roll(row.reshape(-1, block), 1, axis=1).ravel()


def lb_exchange(row: np.ndarray, block: int) -> np.ndarray:
    """The row after the second kernel, which moves what lies in the first place of each block on (figure 4.2)."""
    moved = row.copy()
    moved[::block] = np.roll(row[::block], 1)
    return moved


def shared_memory():
    """How populations that move to the right pass through shared memory, and what LBExchange moves."""
    row = np.arange(_BLOCKS * _BLOCK)
    parked = exchanged(row, _BLOCK)
    stages = {"read and collided": row, "written from shared memory": parked}
    stages["after LBExchange"] = lb_exchange(parked, _BLOCK)
    figure, axes = plt.subplots(figsize=(8.6, 3.2))
    for level, (name, populations) in enumerate(stages.items()):
        height = -1.7 * level
        axes.text(-0.4, height + 0.5, name, ha="right", va="center")
        for place, population in enumerate(populations):
            left, face, colour = place + 0.5 * (place // _BLOCK), "white", "black"
            if level > 0:
                face, colour = GREEN if population == (place - 1) % len(row) else VERMILLION, "white"
            axes.add_patch(Rectangle((left, height), 1, 1, facecolor=face, edgecolor="black", lw=0.8))
            axes.text(left + 0.5, height + 0.5, str(population), ha="center", va="center", color=colour, weight="bold")
    for block in range(_BLOCKS):
        first = block * (_BLOCK + 0.5)
        axes.text(first + _BLOCK / 2, 1.15, f"block {block}", ha="center", va="bottom")
        for place in range(_BLOCK):
            end = first + (place + 1) % _BLOCK + 0.5
            axes.annotate("", (end, -0.7), (first + place + 0.5, 0), arrowprops={"arrowstyle": "->", "color": "0.4"})
        end = (block + 1) % _BLOCKS * (_BLOCK + 0.5) + 0.5
        look = {"arrowstyle": "->", "color": VERMILLION, "lw": 1.5}
        axes.annotate("", (end, -2.4), (first + 0.5, -1.7), arrowprops=look)
    axes.set(xlim=(-4.9, _BLOCKS * (_BLOCK + 0.5)), ylim=(-3.6, 1.6), aspect="equal")
    axes.set_axis_off()
    handles = [Rectangle((0, 0), 1, 1, facecolor=colour, edgecolor="black") for colour in (GREEN, VERMILLION)]
    names = ["where it belongs: one node on", "parked at the other end of its block"]
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    return figure, stages


def cavity(lid: str):
    """The cavity with its nodes and walls where the schemes put them, and what moves along the lid."""
    case = Cavity(reynolds=10, nodes=_CAVITY_NODES, lid=lid)
    x, y = case.positions
    height = height_over_width(case)
    y = y * height
    figure, axes = plt.subplots(figsize=(4.6, 4.6))
    axes.add_patch(Rectangle((0, 0), 1, height, facecolor="none", edgecolor="black", lw=1.5))
    axes.plot([0, 1], [height, height], color=VERMILLION, lw=3, marker="none")
    at_x, at_y = (grid.ravel() for grid in np.meshgrid(x, y))
    on_lid = np.isclose(at_y, height)
    beside = on_lid & ((at_x == x[0]) | (at_x == x[-1]))
    moving = on_lid & ~beside
    axes.plot(at_x[~on_lid], at_y[~on_lid], "o", color=BLUE, ms=4, label="fluid nodes")
    axes.plot(at_x[moving], at_y[moving], "s", color=VERMILLION, ms=6, label="nodes on the lid")
    axes.plot(at_x[beside], at_y[beside], "s", mfc="white", mec="black", ms=6, label="nodes at rest beside the walls")
    if not on_lid.any():
        for corner, inner in ((0, 0), (1, -1)):
            axes.plot([x[inner], corner], [y[-1], height], "k:", marker="none", lw=1.5)
        axes.plot([], [], "k:", marker="none", lw=1.5, label="links at rest through the corners")
    axes.annotate("", (0.7, height + 0.06), (0.3, height + 0.06), arrowprops=_ARROW | {"color": VERMILLION})
    axes.text(0.5, height + 0.08, "lid, speed $U$", ha="center", va="bottom", color=VERMILLION)
    for turn, place in ((90, (-0.04, 0.5)), (270, (1.04, 0.5)), (0, (0.5, -0.04))):
        axes.text(*place, "at rest", rotation=turn, ha="center", va="center")
    axes.annotate("", (1, -0.1), (0, -0.1), arrowprops={"arrowstyle": "<->"})
    axes.text(0.5, -0.12, "$L$", ha="center", va="top")
    axes.set(xlim=(-0.1, 1.1), ylim=(-0.19, height + 0.14), aspect="equal")
    axes.set_axis_off()
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return figure, {"x": x, "y": y}


def duct(walls: str):
    """The duct along x with the force that drives it, and the nodes of its cross-section."""
    case = Duct(nodes=_DUCT_NODES, walls=walls)
    at = case.positions / case.side
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6), width_ratios=(1.5, 1))
    # an oblique projection: along the duct to the right, z up, y to the back
    back, length = np.array([0.45, 0.35]), 2.2
    near = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) @ np.array([back, [0, 1]])
    far = near + np.array([length, 0])
    for face, look in ((near, {"facecolor": "0.9"}), (far, {"facecolor": "none", "linestyle": "--"})):
        left.add_patch(Polygon(face, edgecolor="black", **look))
    for start, end in zip(near, far, strict=True):
        left.plot(*np.transpose([start, end]), color="black", marker="none", lw=1)
    middle = near.mean(0)
    start, end, label = (middle + np.array(shift) for shift in ((0.4, 0), (1.3, 0), (0.85, 0.06)))
    left.annotate("", end, start, arrowprops=_ARROW | {"color": VERMILLION})
    left.text(*label, "force $F$, velocity $u$", ha="center", color=VERMILLION)
    left.annotate("", (-0.1, 1), (-0.1, 0), arrowprops={"arrowstyle": "<->"})
    left.text(-0.14, 0.5, "$a$", ha="right", va="center")
    left.text(length / 2, -0.08, "periodic along the duct", ha="center", va="top")
    left.set(xlim=(-0.3, length + 0.55), ylim=(-0.2, 1.4), aspect="equal")
    left.set_axis_off()
    right.add_patch(Rectangle((-0.5, -0.5), 1, 1, facecolor="none", edgecolor="black", lw=1.5))
    at_x, at_y = (grid.ravel() for grid in np.meshgrid(at, at))
    on_wall = np.isclose(np.maximum(abs(at_x), abs(at_y)), 0.5)
    right.plot(at_x[~on_wall], at_y[~on_wall], "o", color=BLUE, ms=4, label="fluid nodes")
    right.plot(at_x[on_wall], at_y[on_wall], "s", color=VERMILLION, ms=5, label="nodes on walls")
    right.set(xlabel="x / a", ylabel="y / a", aspect="equal", xlim=(-0.6, 0.6), ylim=(-0.6, 0.6))
    right.set_title("cross-section")
    right.grid(False)
    figure.legend(loc="outside lower right", ncols=2, fontsize=8)
    return figure, {"nodes of the section": at}
