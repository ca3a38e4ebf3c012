"""Sketches of chapter 5, computed: the unit cell of the crystal, the flag word and the list of fluid nodes."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, Rectangle

from repro.lbm import neighbours
from repro.lbm.lattice import D3Q19
from repro.lbm.media.spheres import PACKINGS, solid_fraction, sphere_radius
from repro.lbm.porous import neighbour_list, node
from repro.lbm.porous.strategies import branches, flag_word, sparse
from repro.papers.rasteriser import Body, picture
from repro.papers.style import BLUE, VERMILLION

#: the code of sections 5.1 and 5.2: where neighbours are, the flag word, both ways to fetch, a thread's step
LISTING_2 = (
    *(neighbours.sides, neighbours.steps_of, neighbours.index_of, neighbours.make_offset),
    *(node.flag_kernel, branches.fetch, flag_word.fetch),
    *(node.make_reader, node.count_pores, node.make_store, node.dense_kernel),
)

#: and of section 5.3: the list of fluid nodes, and a step that reads through it
NODE_MAP = (neighbour_list.list_kernel, sparse.make_pull, sparse.update_kernel)

#: voxels along the cell, and pixels of its picture
_VOXELS, _PIXELS = 72, 420

#: solid nodes of the sketch of figures 5.1 to 5.3, one row of y a line, y = 0 last
_MEDIUM = ("...##..", ".....#.", ".##....", "###..#.", "......#")

#: the node whose flag word is shown, (x, y)
_NODE = (3, 2)


def unit_cell(chi: float):
    """The body-centred crystal: its spheres in a cell, and the cell seen along an axis (figures 5.4 and 5.5)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.7))
    place = np.linspace(0, 1, _VOXELS)
    radius, depth = sphere_radius(chi, 1.0), []
    for centre in PACKINGS["body-centred"].centres:
        x, y, z = (np.square((place - c + 0.5) % 1 - 0.5) for c in centre)
        depth.append(radius - np.sqrt(x + y[:, None] + z[:, None, None]))
    field = np.max(depth, axis=0) * _VOXELS / 3
    spheres = Body(field.clip(-1, 1), to_rgb("#a8a8a8"), _VOXELS - 1)
    left.imshow(picture([spheres], _PIXELS), interpolation="antialiased")
    left.set_axis_off()
    right.add_patch(Rectangle((0, 0), 1, 1, facecolor="none", edgecolor="black"))
    for middle in ((0, 0), (0, 1), (1, 0), (1, 1), (0.5, 0.5)):
        right.add_patch(Circle(middle, radius, facecolor="0.85", edgecolor="0.4"))
    end = (0.5 + radius * np.cos(0.6), 0.5 + radius * np.sin(0.6))
    right.annotate("", end, (0.5, 0.5), arrowprops={"arrowstyle": "->"})
    right.text(0.5 + 0.45 * radius, 0.5 + 0.15 * radius, "r", ha="left", va="top", style="italic")
    right.annotate("", (1, -0.07 - radius), (0, -0.07 - radius), arrowprops={"arrowstyle": "<->"})
    right.text(0.5, -0.1 - radius, "L", ha="center", va="top", style="italic")
    right.set(xlim=(-0.02 - radius, 1.02 + radius), ylim=(-0.25 - radius, 1.02 + radius), aspect="equal")
    right.set_axis_off()
    porosity = 1 - solid_fraction(chi)
    figure.suptitle(rf"$\chi = {chi:g}$: $r = {radius:.3f}\,L$, porosity {porosity:.3f}", fontsize=10)
    return figure, {"radius over L": radius, "porosity": porosity}


def medium() -> np.ndarray:
    """The solid nodes of the sketch, [y][x]."""
    return np.array([[letter == "#" for letter in row] for row in _MEDIUM[::-1]])


def bits_of(solid: np.ndarray, node: tuple[int, int]) -> list[int]:
    """The bits of a node of a periodic layer: bit i says that the node from which population i comes is solid.

    Bit 0 is the node itself (figure 5.2); z has one layer, so that steps along it come back to it.
    """
    return [int(bit) for bit in _behind(solid, node)]


def _behind(values: np.ndarray, node: tuple[int, int]) -> list:
    """What an array [y][x] has where each population of a node comes from."""
    (x, y), (height, width) = node, values.shape
    return [values[(y - cy) % height, (x - cx) % width] for cx, cy, _ in D3Q19.velocities]


def sources_of(solid: np.ndarray, node: tuple[int, int]) -> list[str]:
    """Where each population of a node comes from: "i of n", population i of fluid node n (section 5.3)."""
    behind = _behind(_numbers(solid), node)
    return [f"{i} of {n}" if n >= 0 else f"{D3Q19.opposite[i]} of {behind[0]}" for i, n in enumerate(behind)]


def _numbers(solid: np.ndarray) -> np.ndarray:
    """The numbers of the fluid nodes, row by row; -1 in solid."""
    return np.where(solid, -1, np.cumsum(~solid).reshape(solid.shape) - 1)


def storage():
    """A layer of a medium with its fluid nodes numbered, and what both algorithms keep of one of them.

    Figures 5.1 to 5.3: the bits of its flag word, and its row of the node map, for the directions in the plane.
    """
    solid, (x0, y0) = medium(), _NODE
    height, width = solid.shape
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), width_ratios=(1, 1.05))
    for (y, x), number in np.ndenumerate(_numbers(solid)):
        face = "white" if number >= 0 else "0.3"
        left.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=face, edgecolor="0.7", lw=0.8))
        if number >= 0:
            # beside the arrows, which run through the middle and the corners of nodes
            left.text(x + 0.46, y + 0.15, str(number), ha="right", va="center", fontsize=7, color="0.4")
    bits, sources = bits_of(solid, _NODE), sources_of(solid, _NODE)
    plane = [i for i, (cx, cy, cz) in enumerate(D3Q19.velocities) if not cz and (cx or cy)]
    for i in plane:
        (cx, cy, _), look = D3Q19.velocities[i], {"arrowstyle": "->", "color": VERMILLION if bits[i] else BLUE}
        start = (x0 - 0.82 * cx, y0 - 0.82 * cy)
        left.annotate("", (x0 - 0.12 * cx, y0 - 0.12 * cy), start, arrowprops=look)
    left.add_patch(Rectangle((x0 - 0.5, y0 - 0.5), 1, 1, facecolor="none", edgecolor="black", lw=2))
    left.set(xlim=(-0.6, width - 0.4), ylim=(-0.6, height - 0.4), aspect="equal")
    left.set(xlabel="x (nodes)", ylabel="y (nodes)", title="fluid nodes, numbered, and solid nodes (grey)")
    left.grid(False)
    for i, bit in enumerate(bits):
        place = len(bits) - 1 - i
        face = VERMILLION if bit else "white"
        right.add_patch(Rectangle((place, 5), 1, 1, facecolor=face, edgecolor="black", lw=0.8))
        right.text(place + 0.5, 5.5, bit, ha="center", va="center", fontsize=8)
        right.text(place + 0.5, 6.35, i, ha="center", va="center", fontsize=6, color="0.4")
    right.text(0, 6.9, "algorithm one: flag word, bits 18 to 0", va="bottom", fontsize=9)
    right.text(0, 3.6, "algorithm two: population i is read from population j of node n", va="bottom", fontsize=9)
    step = len(bits) / len(plane)
    for k, i in enumerate(plane):
        face = to_rgb(VERMILLION if bits[i] else "white")
        right.add_patch(Rectangle((k * step, 2), step, 1, facecolor=face, edgecolor="black", lw=0.8))
        right.text((k + 0.5) * step, 2.5, sources[i], ha="center", va="center", fontsize=8)
        right.text((k + 0.5) * step, 3.3, i, ha="center", va="center", fontsize=6, color="0.4")
    told = "orange: the neighbour is solid, and the node's own\nopposite population comes back; bits without an\n"
    right.text(0, 1.5, f"{told}arrow: z has one layer, so that steps along it\ncome back to it", va="top", fontsize=9)
    right.set(xlim=(-0.2, len(bits) + 0.2), ylim=(-0.5, 8))
    right.set_axis_off()
    return figure, {"solid": solid.astype(int), "bits": bits}
