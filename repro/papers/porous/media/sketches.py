"""Sketches of chapter 5, computed: the unit cell of the crystal, the flag word and the list of fluid nodes."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, Rectangle

from repro.lbm import neighbours
from repro.lbm.lattice import D3Q19
from repro.lbm.media import PoreSpace
from repro.lbm.media.spheres import PACKINGS, solid_fraction, sphere_radius
from repro.lbm.porous import neighbour_list, node
from repro.lbm.porous.problem import PorousProblem
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

#: solid nodes of the worked example of figures 5.1 to 5.3, one row of y a line, y = 0 last
_MEDIUM = ("..#..", ".#...", "...#.", "#....")

#: the node whose flag word and map are written out, (x, y)
_NODE = (2, 1)

#: the directions in the plane of the picture
_PLANE = [i for i, (cx, cy, cz) in enumerate(D3Q19.velocities) if not cz and (cx or cy)]


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


@dataclass(frozen=True)
class Example:
    """A periodic layer of nodes, and what the solver's own kernels make of it."""

    #: [y][x]
    solid: np.ndarray
    #: number of each pore, -1 in solid, [y][x]
    numbers: np.ndarray
    #: flag word of each node, [y][x]
    words: np.ndarray
    #: places in the array of populations, [q - 1][pore]
    sources: np.ndarray
    #: numbers that the array keeps for each direction
    row: int

    def bits(self, place: tuple[int, int]) -> list[int]:
        """The bits of the word of a node (x, y), that of the node itself first."""
        return [int(self.words[place[::-1]]) >> i & 1 for i in range(D3Q19.q)]

    def behind(self, i: int) -> tuple[int, int]:
        """Where population i of the node that is written out comes from, (x, y)."""
        (x, y), (height, width) = _NODE, self.solid.shape
        cx, cy, _ = D3Q19.velocities[i]
        return (x - cx) % width, (y - cy) % height

    def read(self, i: int, pore: int) -> str:
        """Where a pore reads population i: "j of n", population j of pore n."""
        j, n = divmod(int(self.sources[i - 1, pore]), self.row)
        return f"{j} of {n}"


def example(device) -> Example:
    """The worked example: five times four nodes, flagged and listed on the device as for a run."""
    solid = np.array([[letter == "#" for letter in row] for row in _MEDIUM[::-1]])
    problem = PorousProblem(PoreSpace(solid[None]), 1.0, (0.0, 0.0, 0.0))
    pores = neighbour_list.list_neighbours(problem, device)
    words, sources = (device.to_host(array) for array in (flag_word.make_flags(problem, device), pores.sources))
    numbers = np.full(solid.size, -1)
    numbers[pores.cells] = np.arange(pores.count)
    sources = sources.reshape(D3Q19.q - 1, pores.row)[:, : pores.count]
    return Example(solid, numbers.reshape(solid.shape), words.reshape(solid.shape), sources, pores.row)


def map_table(example: Example) -> pd.DataFrame:
    """The node that is written out, direction by direction: where its population comes from, its bit, its entry.

    And the entries of the node map in the same directions of two pores beside it, on the left and above.
    """
    x, y = _NODE
    bits, rows = example.bits(_NODE), []
    pores = [int(example.numbers[place]) for place in ((y, x), (y, x - 1), (y + 1, x))]
    for i in _PLANE:
        entries = [int(example.sources[i - 1, pore]) for pore in pores]
        place = "({}, {})".format(*example.behind(i))
        rows.append((i, place, bits[i], entries[0], example.read(i, pores[0]), *entries[1:]))
    first, *others = (f"entry of {pore}" for pore in pores)
    return pd.DataFrame(rows, columns=["i", "comes from (x, y)", "bit i", first, "population", *others])


def word_of(example: Example) -> dict:
    """The flag word of the node that is written out, and how many of its bits say solid, for `Record.say`.

    Holds if the bits are those of the picture, as array arithmetic has it, and the map turns back where a bit is set.
    """
    bits, pore = example.bits(_NODE), example.numbers[_NODE[::-1]]
    same = all(bit == example.solid[example.behind(i)[::-1]] for i, bit in enumerate(bits))
    turned = all((example.read(i, pore) == f"{D3Q19.opposite[i]} of {pore}") == bits[i] for i in _PLANE)
    word = int(example.words[_NODE[::-1]])
    return {"pore": int(pore), "word": word, "set": sum(bits), "holds": same and turned}


def storage(example: Example):
    """The layer of the worked example with its fluid nodes numbered, and what both algorithms keep of one of them.

    Figures 5.1 to 5.3: the bits of its flag word, and its row of the node map, for the directions in the plane.
    """
    solid, (x0, y0) = example.solid, _NODE
    height, width = solid.shape
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), width_ratios=(1, 1.05))
    for (y, x), number in np.ndenumerate(example.numbers):
        face = "white" if number >= 0 else "0.3"
        left.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=face, edgecolor="0.7", lw=0.8))
        if number >= 0:
            # beside the arrows, which run through the middle and the corners of nodes
            left.text(x + 0.46, y + 0.15, str(number), ha="right", va="center", fontsize=7, color="0.4")
    bits = example.bits(_NODE)
    for i in _PLANE:
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
    step = len(bits) / len(_PLANE)
    for k, i in enumerate(_PLANE):
        face = to_rgb(VERMILLION if bits[i] else "white")
        right.add_patch(Rectangle((k * step, 2), step, 1, facecolor=face, edgecolor="black", lw=0.8))
        source = example.read(i, example.numbers[y0, x0])
        right.text((k + 0.5) * step, 2.5, source, ha="center", va="center", fontsize=8)
        right.text((k + 0.5) * step, 3.3, i, ha="center", va="center", fontsize=6, color="0.4")
    told = "orange: the neighbour is solid, and the node's own\nopposite population comes back; bits without an\n"
    right.text(0, 1.5, f"{told}arrow: z has one layer, so that steps along it\ncome back to it", va="top", fontsize=9)
    right.set(xlim=(-0.2, len(bits) + 0.2), ylim=(-0.5, 8))
    right.set_axis_off()
    return figure, {"solid": solid.astype(int), "bits": bits}
