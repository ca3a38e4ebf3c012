"""Sketches of chapter 4's set-ups, computed from small cases: the cavity (figure 4.3a) and the duct (figure 4.5a).

Each function returns (figure, arrays) as the other figures do.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon, Rectangle

from repro.lbm.cases import Cavity, Duct
from repro.papers.style import BLUE, VERMILLION

from .lids import height_over_width

#: nodes a side of the sketches
_CAVITY_NODES, _DUCT_NODES = 8, 9

_ARROW = {"arrowstyle": "->", "lw": 1.8}


def cavity(lid: str):
    """The cavity with its nodes and walls where the schemes put them, and what moves along the lid."""
    case = Cavity(reynolds=10, nodes=_CAVITY_NODES, lid=lid)
    x, y = case.positions
    height = height_over_width(case)
    y = y * height
    figure, axes = plt.subplots(figsize=(5.0, 4.6))
    axes.add_patch(Rectangle((0, 0), 1, height, facecolor="none", edgecolor="black", lw=1.5))
    axes.plot([0, 1], [height, height], color=VERMILLION, lw=3, marker="none")
    at_x, at_y = (grid.ravel() for grid in np.meshgrid(x, y))
    on_lid = np.isclose(at_y, height)
    beside = on_lid & ((at_x == x[0]) | (at_x == x[-1]))
    axes.plot(at_x[~on_lid], at_y[~on_lid], "o", color=BLUE, ms=4, label="fluid nodes")
    axes.plot(at_x[on_lid & ~beside], at_y[on_lid & ~beside], "s", color=VERMILLION, ms=6, label="nodes on the lid")
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
    axes.set(xlim=(-0.1, 1.1), ylim=(-0.2, 1.2), aspect="equal")
    axes.set_axis_off()
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
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
