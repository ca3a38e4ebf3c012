"""The swap paper's lost tables 3 and 4, derived from its rule instead of typed, and the grids on which they hold."""

from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np
import pandas as pd

from repro.declared import Whole, checked
from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D3Q19
from repro.lbm.model import Model
from repro.lbm.node import Specialisation, stream_kernel
from repro.lbm.parameters import Grid, WallVelocity
from repro.lbm.strategies.swap.rule import (
    Source,
    link_kernel,
    make_rotate,
    make_source,
    pairs_of,
    ray_kernel,
    sweep_kernel,
    type_kernel,
)
from repro.parallel import select
from repro.parallel.options import Seed

#: interior nodes a side, and as many as it takes for each type of place to occur: a ray's ends and its middle
Largest, AllTypes = Annotated[int, Whole(1, 16)], Annotated[int, Whole(3, 16)]

CLOSED = Model(D3Q19, Boundaries(("standard",) * 6))
SPEC = Specialisation(CLOSED)
NO_WALL = WallVelocity(*(np.float64(0),) * 3)

#: ways to stream by swaps, and how many arrays of populations each needs
WAYS = {"sweep": 1, "rays": 1, "types": 2, "links": 1, "types in one array": 1}

#: the paper's order of the nine directions; its x is the slowest axis in memory, here z
PAPER_DIRECTIONS = (
    (-1, 0, 0), (0, -1, 0), (0, 0, -1), (-1, -1, 0), (-1, 1, 0), (-1, 0, -1), (-1, 0, 1), (0, -1, -1), (0, -1, 1),
)  # fmt: skip


#: the rule at one node and one pair of directions, as every kernel of the sweep uses it
rotate = make_rotate(D3Q19, "soa")


def ray_sources(count: int) -> pd.DataFrame:
    """Table 3 for a ray of `count` interior nodes: sweep a ray of labels and read off where each place got its own.

    Columns node, type, f_i, f_j: the places, such as "f_j(1)", whose population the node has after the sweep.
    """
    first, second = [f"f_i({k})" for k in range(count + 1)], [f"f_j({k})" for k in range(count + 1)]
    for k in range(1, count + 1):
        first[k], second[k], first[k - 1] = second[k], first[k - 1], first[k]
    kinds = ["A"] + [_kind(k == 1, k == count) for k in range(1, count + 1)]
    return pd.DataFrame({"node": range(count + 1), "type": kinds, "f_i": first, "f_j": second})


def source_types() -> pd.DataFrame:
    """Table 3: the five types, and from which places on its ray a node k of each takes its two populations.

    Read off from swept rays of one to five interior nodes. Columns type, f_i(k), f_j(k).
    """
    rows = []
    for count in range(1, 6):
        for row in ray_sources(count).itertuples():
            rows.append((row.type, *(_relative(place, row.node) for place in (row.f_i, row.f_j))))
    table = pd.DataFrame(rows, columns=["type", "f_i(k)", "f_j(k)"])
    return table.drop_duplicates().sort_values("type").reset_index(drop=True)


def _relative(place: str, node: int) -> str:
    """A place such as "f_i(3)" as seen from a node: "f_i(k + 1)" from node 2."""
    away = int(place[4:-1]) - node
    return f"{place[:4]}k{f' {away:+d}'.replace('+', '+ ').replace('-', '- ') if away else ''})"


def _kind(at_start: bool, at_end: bool) -> str:
    return {(True, True): "E", (True, False): "B", (False, False): "C", (False, True): "D"}[at_start, at_end]


@dataclass(frozen=True)
class Sweep:
    """What the serial sweep does to populations, read off from labels that it has moved."""

    #: pairs of opposite directions whose populations it moves
    rays: int
    #: patterns of where a node's two populations of a ray come from: (steps along the ray, whether of the same
    #: direction) of each; a type of source is a pattern
    types: frozenset


@checked
def sweep_labels(largest: Largest, kernel=None) -> Sweep:
    """Sweep labelled populations on all cubes of 1 to `largest` interior nodes a side, and read off what moved.

    `kernel` is the sweep of `sweep_kernel`, or another rule that is to be looked at.
    """
    sweep = select("serial").compile(kernel or sweep_kernel(SPEC))
    rays, types = set(), set()
    for side in range(1, largest + 1):
        shape = (side + 2,) * 3
        labels = np.arange(D3Q19.q * (side + 2) ** 3, dtype=np.float64)
        sweep(shape, labels, Grid(*shape))()
        for pair in pairs_of(D3Q19):
            found = _patterns(labels.astype(int).reshape(D3Q19.q, *shape), pair)
            rays |= {pair} if found else set()
            types |= found
    return Sweep(len(rays), frozenset(types))


def _patterns(labels: np.ndarray, pair: tuple[int, int]) -> set:
    """The patterns of one pair of directions at all nodes, without that of populations which stayed."""
    i, j = pair
    step, nodes = np.array(D3Q19.velocities[i][::-1]), labels[0].size
    here = np.stack(np.indices(labels.shape[1:]), axis=-1).reshape(-1, 3)
    columns = []
    for k in pair:
        population, node = np.divmod(labels[k].ravel(), nodes)
        away = np.stack(np.unravel_index(node, labels.shape[1:]), axis=-1) - here
        columns += [away @ step // (step @ step), population == i]
        # whatever moves, moves along its ray
        columns += [(away == columns[-2][:, None] * step).all(axis=1) & ((population == i) | (population == j))]
    stayed = (0, True, True, 0, False, True)
    return {row for row in zip(*(column.tolist() for column in columns), strict=True) if row != stayed}


#: where behind a boundary node, along an axis on which a direction goes back, stays or goes on, there is the interior
BEHIND = {
    -1: ("0 ≤ {} < N", lambda p, n: 0 <= p < n),
    0: ("1 ≤ {} ≤ N", lambda p, n: 1 <= p <= n),
    1: ("1 < {} ≤ N + 1", lambda p, n: 1 < p <= n + 1),
}


def regions() -> pd.DataFrame:
    """Table 4: where a node lies on its ray of each of the paper's directions; interior coordinates are 1 to N.

    Columns i, j, direction, "first" and "last" (when an interior node is that of its ray), "A" (when a boundary node,
    0 or N + 1 along some axis, is of type A). The paper's axes, its x the slowest in memory. An interior node is of
    type B if it is the first of its ray, D if it is the last, E if both and C if neither; `kind_at` is the same.
    """
    rows = []
    for number, direction in enumerate(PAPER_DIRECTIONS, 1):
        axes = list(zip("xyz", direction, strict=True))
        first, last = (" or ".join(f"{name} = {_end(c, at)}" for name, c in axes if c) for at in ("first", "last"))
        inside = ", ".join(BEHIND[c][0].format(name) for name, c in axes)
        rows.append((number, number + 9, str(direction), first, last, inside))
    return pd.DataFrame(rows, columns=["i", "j", "direction", "first", "last", "A"])


def _end(step: int, at: str) -> str:
    """The coordinate, "1" or "N", of the first or last interior node along an axis, by the direction's step there."""
    return "1" if (step < 0) == (at == "first") else "N"


def kind_at(node, direction, interior: int) -> str:
    """The type of a node of a cube by the conditions of `regions`, "NONE" for a boundary node that is not of type A."""
    axes = list(zip(node, direction, strict=True))
    if not all(1 <= p <= interior for p in node):
        return "A" if all(BEHIND[c][1](p, interior) for p, c in axes) else "NONE"
    ends = {"1": 1, "N": interior}
    return _kind(*(any(c and p == ends[_end(c, at)] for p, c in axes) for at in ("first", "last")))


@checked
def regions_table(largest: AllTypes) -> pd.DataFrame:
    """`regions_hold` for cubes of 1 to `largest` interior nodes a side, beside the number that there are."""
    sides = range(1, largest + 1)
    return pd.DataFrame(
        {
            "N": sides,
            "nodes times directions": [len(PAPER_DIRECTIONS) * (side + 2) ** 3 for side in sides],
            "regions agree": [regions_hold(side) for side in sides],
        }
    )


def regions_hold(interior: int) -> int:
    """Number of (node, direction) of a cube of `interior` nodes a side whose region agrees with `make_source`.

    All of them are (interior + 2)^3 * 9; A is the region's part outside the interior.
    """
    source, extent = make_source(CLOSED), interior + 2
    pairs = [(direction, D3Q19.velocities.index(direction[::-1])) for direction in PAPER_DIRECTIONS]
    return sum(
        kind_at(node, direction, interior) == Source(source(i, *node[::-1], (extent,) * 3)).name
        for direction, i in pairs
        for node in product(range(extent), repeat=3)
    )


@checked
def grids_that_agree(largest: Largest, seed: Seed = 1) -> tuple[int, int]:
    """(grids, populations) on which taking by types left bit for bit what the serial sweep leaves.

    All grids of 1 to `largest` interior nodes a side, cubic or not, from random populations.
    """
    random, kernels, equal = np.random.default_rng(seed), _kernels("sweep", "types"), []
    for sides in product(range(3, largest + 3), repeat=3):
        before = random.uniform(-1, 1, D3Q19.q * int(np.prod(sides)))
        equal.append(
            _ran(kernels["sweep"], sides, before) == _ran(kernels["types"], sides, before, np.empty_like(before))
        )
    return sum(bool(same.all()) for same in equal), sum(int(same.sum()) for same in equal)


@checked
def streaming_table(largest: Largest, seed: Seed = 1) -> pd.DataFrame:
    """On how many grids each way to stream by swaps leaves, bit for bit, what plain streaming leaves.

    All grids of 1 to `largest` interior nodes a side, cubic or not, from random populations. Columns way, arrays (of
    populations), equal, grids. The last row takes by types in one array, node after node: it reads what is overwritten.
    """
    random, kernels = np.random.default_rng(seed), _kernels(*KERNELS)
    equal, grids = dict.fromkeys(WAYS, 0), list(product(range(3, largest + 3), repeat=3))
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


#: the kernels of all ways to stream by swaps and of plain streaming, by name
KERNELS = {
    "sweep": lambda: sweep_kernel(SPEC),
    "rays": lambda: ray_kernel(SPEC),
    "types": lambda: type_kernel(SPEC),
    "links": lambda: link_kernel(SPEC, boundary_only=False),
    "boundary links": lambda: link_kernel(SPEC, boundary_only=True),
    "plain": lambda: stream_kernel(SPEC),
}


def _kernels(*names: str) -> dict:
    """Some of KERNELS, compiled."""
    return {name: select("serial").compile(KERNELS[name]()) for name in names}


def _ran(kernel, shape, *arrays, more=()) -> np.ndarray:
    """What a kernel leaves in the last of its arrays, which stay as they are; one given twice is one array."""
    copies = {id(array): array.ravel().copy() for array in arrays}
    flat = [copies[id(array)] for array in arrays]
    kernel(shape, *flat, Grid(*shape), *more)()
    return flat[-1].reshape(arrays[-1].shape)
