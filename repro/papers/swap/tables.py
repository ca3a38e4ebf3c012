"""The swap paper's lost tables 3 and 4, derived from its rule instead of typed, and the grids on which they hold."""

from itertools import product
from typing import Annotated

import numpy as np
import pandas as pd

from repro.declared import Whole, checked
from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D3Q19
from repro.lbm.model import Model
from repro.lbm.node import Specialisation, stream_kernel
from repro.lbm.parameters import Grid, Vector
from repro.lbm.strategies.swap import rule
from repro.parallel import select
from repro.parallel.options import Seed

#: interior nodes a side, and as many as it takes for each type of place to occur: a ray's ends and its middle
Largest, AllTypes = Annotated[int, Whole(1, 16)], Annotated[int, Whole(3, 16)]

CLOSED = Model(D3Q19, Boundaries(("standard",) * 6))
SPEC = Specialisation(CLOSED)
NO_WALL = Vector(*(np.float64(0),) * 3)

#: ways to stream by swaps, and how many arrays of populations each needs
WAYS = {"sweep": 1, "rays": 1, "types": 2, "links": 1, "types in one array": 1}

#: the paper's order of the nine directions; its x is the slowest axis in memory, here z
PAPER_DIRECTIONS = (
    (-1, 0, 0), (0, -1, 0), (0, 0, -1), (-1, -1, 0), (-1, 1, 0), (-1, 0, -1), (-1, 0, 1), (0, -1, -1), (0, -1, 1),
)  # fmt: skip


#: the rule at one node and one pair of directions, as every kernel of the sweep uses it
rotate = rule.make_rotate(D3Q19, "soa")


def ray_sources(count: int) -> pd.DataFrame:
    """Table 3 for a ray of `count` interior nodes: sweep a ray of labels and read off where each place got its own.

    Columns node, type, f_i, f_j: the places, such as "f_j(1)", whose population the node has after the sweep.
    """
    first, second = [f"f_i({k})" for k in range(count + 1)], [f"f_j({k})" for k in range(count + 1)]
    for k in range(1, count + 1):
        first[k], second[k], first[k - 1] = second[k], first[k - 1], first[k]
    kinds = ["A"] + [_kind(k == 1, k == count) for k in range(1, count + 1)]
    return pd.DataFrame({"node": range(count + 1), "type": kinds, "f_i": first, "f_j": second})


def _kind(at_start: bool, at_end: bool) -> str:
    return {(True, True): "E", (True, False): "B", (False, False): "C", (False, True): "D"}[at_start, at_end]


def kind_at(node, direction, interior: int) -> str:
    """Table 4: the type of a node of a cube on its ray; interior coordinates are 1 to `interior`.

    An interior node is the first of its ray if the next node along the direction is a boundary node, and the last if
    that against it is one. A boundary node is of type A if the node against the direction is interior, else "NONE".
    """
    here, ahead, behind = (
        all(1 <= p + way * c <= interior for p, c in zip(node, direction, strict=True)) for way in (0, 1, -1)
    )
    return _kind(not ahead, not behind) if here else ("A" if behind else "NONE")


@checked
def regions_hold(largest: AllTypes) -> tuple[int, int]:
    """Number of (node, direction) of cubes at which `kind_at` agrees with `make_source`, and how many there are.

    Cubes of 1 to `largest` interior nodes a side.
    """
    source, agree, places = rule.make_source(CLOSED), 0, 0
    pairs = [(direction, D3Q19.velocities.index(direction[::-1])) for direction in PAPER_DIRECTIONS]
    for interior in range(1, largest + 1):
        grid = Grid.packed((interior + 2,) * 3)
        for node, (direction, i) in product(product(range(interior + 2), repeat=3), pairs):
            agree += kind_at(node, direction, interior) == rule.Source(source(i, *node[::-1], grid)).name
            places += 1
    return agree, places


@checked
def streaming_table(largest: Largest, seed: Seed = 1) -> pd.DataFrame:
    """On how many grids each way to stream by swaps leaves, bit for bit, what plain streaming leaves.

    All grids of 1 to `largest` interior nodes a side, cubic or not, from random populations. Columns way, arrays (of
    populations), equal, grids. The last row takes by types in one array, node after node: it reads what is overwritten.
    """
    kernels = {
        "sweep": rule.sweep_kernel(SPEC),
        "rays": rule.ray_kernel(SPEC),
        "types": rule.type_kernel(SPEC),
        "links": rule.link_kernel(SPEC, boundary_only=False),
        "boundary links": rule.link_kernel(SPEC, boundary_only=True),
        "plain": stream_kernel(SPEC),
    }
    kernels = {name: select("serial").compile(kernel) for name, kernel in kernels.items()}
    random, equal = np.random.default_rng(seed), dict.fromkeys(WAYS, 0)
    grids = list(product(range(3, largest + 3), repeat=3))
    for shape in grids:
        populations = random.uniform(-1, 1, (D3Q19.q, *shape[::-1]))
        # what links start from at all nodes, and the others at boundary nodes
        turned = populations[list(D3Q19.opposite)]
        before = turned.copy()
        before[:, 1:-1, 1:-1, 1:-1] = populations[:, 1:-1, 1:-1, 1:-1]
        expected = _ran(kernels["plain"], shape, populations, np.empty_like(populations), more=(NO_WALL,))
        found = {
            "sweep": _ran(kernels["sweep"], shape, before),
            "rays": _ran(kernels["rays"], shape, before),
            "types": _ran(kernels["types"], shape, before, np.empty_like(before)),
            "types in one array": _ran(kernels["types"], shape, before, before),
        }
        found = {way: _ran(kernels["boundary links"], shape, after) for way, after in found.items()}
        found["links"] = _ran(kernels["links"], shape, turned)
        for way, after in found.items():
            equal[way] += bool((after == expected).all())
    rows = [(way, arrays, equal[way], len(grids)) for way, arrays in WAYS.items()]
    return pd.DataFrame(rows, columns=["way", "arrays", "equal", "grids"])


def _ran(kernel, shape, *arrays, more=()) -> np.ndarray:
    """What a kernel leaves in the last of its arrays, which stay as they are; one given twice is one array."""
    copies = {id(array): array.ravel().copy() for array in arrays}
    flat = [copies[id(array)] for array in arrays]
    kernel(shape, *flat, Grid.packed(shape), *more)()
    return flat[-1].reshape(arrays[-1].shape)
