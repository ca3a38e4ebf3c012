"""Sketches of the swap: the velocities, the rule, the sweep along a ray and what it leaves (figures 2 to 4, 6 and 7).

What they show is computed with the rule itself. Each function returns (figure, arrays), the numbers that it shows.
"""

import matplotlib.pyplot as plt
import numpy as np

from repro.papers.style import BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILLION

from .tables import PAPER_DIRECTIONS, rotate

#: the three ways in which a pair of directions lies in the grid (figure 4), by the product of its components
WAYS = {0: ("along an axis", BLUE), 1: ("along a diagonal", VERMILLION), -1: ("across a diagonal", GREEN)}

TYPE_COLOURS = {"A": BLUE, "B": ORANGE, "C": GREEN, "D": PURPLE, "E": VERMILLION}


def velocities():
    """The nine pairs of opposite velocities by the paper's numbers, in the cube and plane by plane (figures 2 and 4).

    The axes are the paper's: x is the slowest in memory. Bold arrows are the first of each pair, i; its other is i + 9.
    """
    figure = plt.figure(figsize=(9.6, 3.3))
    places = figure.add_gridspec(1, 4, width_ratios=(1.6, 1, 1, 1))
    cube = figure.add_subplot(places[0], projection="3d")
    _draw_cube(cube)
    for k, (across, (one, other)) in enumerate(zip("xyz", (("y", "z"), ("x", "z"), ("x", "y")), strict=True), 1):
        axes = figure.add_subplot(places[k])
        for number, pair in enumerate(PAPER_DIRECTIONS, 1):
            components = dict(zip("xyz", pair, strict=True))
            if components[across] == 0:
                _draw_pair(axes, components[one], components[other], number, WAYS[way_of(pair)][1])
        axes.plot(0, 0, "o", color="black")
        axes.set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), xticks=[], yticks=[], aspect="equal")
        axes.set(xlabel=one, ylabel=other, title=f"the plane of {one} and {other}")
    handles = [plt.Line2D([], [], color=colour, marker="none") for _, colour in WAYS.values()]
    figure.legend(handles, [name for name, _ in WAYS.values()], loc="outside lower center", ncols=3)
    return figure, {"velocities of i": np.array(PAPER_DIRECTIONS)}


def way_of(velocity) -> int:
    """0 along an axis; else the sign of the product of the two components that are not zero."""
    moving = [c for c in velocity if c]
    return 0 if len(moving) == 1 else moving[0] * moving[1]


def _draw_cube(axes):
    for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        for corner in ((x, y, None), (x, None, y), (None, x, y)):
            axes.plot(*([-1, 1] if c is None else [c, c] for c in corner), color="0.75", lw=0.8, marker="none")
    for number, pair in enumerate(PAPER_DIRECTIONS, 1):
        colour = WAYS[way_of(pair)][1]
        axes.quiver(0, 0, 0, *pair, color=colour, lw=2.0, arrow_length_ratio=0.15)
        axes.quiver(0, 0, 0, *(-c for c in pair), color=colour, lw=0.8, arrow_length_ratio=0.15)
        axes.text(*(1.2 * c for c in pair), str(number), color=colour, ha="center", va="center", weight="bold")
    axes.set(xticks=[], yticks=[], zticks=[], xlabel="x", ylabel="y", zlabel="z", title="all pairs")
    # the first clear of the number 8, the last clear of the next panel
    for axis, pad in zip((axes.xaxis, axes.yaxis, axes.zaxis), (-3, -6, -14), strict=True):
        axis.labelpad = pad
    axes.view_init(elev=24, azim=-52)
    axes.set_box_aspect((1, 1, 1), zoom=1.0)


def _draw_pair(axes, x, y, number, colour):
    for sign, name, weight in ((1, number, 2.0), (-1, number + 9, 0.8)):
        tip = (sign * x, sign * y)
        axes.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": colour, "lw": weight})
        style = {"weight": "bold"} if sign == 1 else {}
        axes.text(1.3 * tip[0], 1.3 * tip[1], str(name), color=colour, ha="center", va="center", **style)


def sweep(count: int):
    """The places of a ray after each visit of the sweep, with the population that each holds (figures 3, 6 and 7).

    Colours tell what a place holds: what belongs there after streaming, what waits, or what has not moved. A frame
    stands around the three places that a visit has changed.
    """
    states = ray_states(count)
    names = [f"$f_{k}({node})$" for node in range(count + 1) for k in "ij"]
    figure, axes = plt.subplots(figsize=(0.85 * len(names) + 1.6, 0.5 * len(states) + 1.4))
    for step, state in enumerate(states):
        for place, label in enumerate(state):
            moved = label != place
            colour = "white" if not moved else (SKY_BLUE if _streamed(label, place) else "0.85")
            changed = step > 0 and label != states[step - 1][place]
            edge = {"edgecolor": "black" if changed else "0.8", "lw": 1.8 if changed else 0.6}
            edge |= {"fc": colour, "zorder": 1 + changed}
            axes.add_patch(plt.Rectangle((place - 0.46, step - 0.42), 0.92, 0.84, **edge))
            axes.text(place, step, names[label], ha="center", va="center", fontsize=9, zorder=4)
    axes.set(xlim=(-0.6, len(names) - 0.4), ylim=(len(states) - 0.4, -0.6), xlabel="place")
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(states)), ["before", *(f"node {node}" for node in range(1, count + 1))])
    axes.set(ylabel="after the visit of")
    axes.grid(False)
    axes.tick_params(length=0)
    handles = [plt.Rectangle((0, 0), 1, 1, fc=colour, ec="0.6") for colour in ("white", SKY_BLUE, "0.85")]
    handles.append(plt.Rectangle((0, 0), 1, 1, fc="white", ec="black", lw=1.8))
    labels = ["not moved", "streamed to here", "waits here", "changed by the visit"]
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure, {"held after each visit": np.array(states)}


def ray_states(count: int) -> list[list[int]]:
    """What the places of a ray hold before the sweep and after each of its visits, as numbers of places.

    Place 2 k is f_i of node k and place 2 k + 1 its f_j; `count` nodes are interior. The rule is `tables.rotate`.
    """
    nodes = count + 1
    # the rule takes populations as a structure of arrays: the first array for i, the second for j
    held, states = np.array([2 * k + j for j in (0, 1) for k in range(nodes)]), []
    for node in range(nodes):
        if node:
            rotate(held, 0, 1, node, node - 1, nodes)
        states.append(held.reshape(2, nodes).T.ravel().tolist())
    return states


def _streamed(label: int, place: int) -> bool:
    """Whether a population has come where streaming takes it: f_i one node back, f_j one node on.

    Node 0 is a boundary node, which holds its two in reverse order.
    """
    (node, kind), (there, slot) = divmod(label, 2), divmod(place, 2)
    kind = 1 - kind if node == 0 else kind
    return kind == slot and there - node == (1 if kind else -1)
