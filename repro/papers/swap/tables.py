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
from repro.lbm.parameters import Grid
from repro.lbm.strategies.swap.rule import Source, pairs_of, rotate_of, source_of, sweep_kernel, type_kernel
from repro.parallel import select
from repro.parallel.options import Seed

#: interior nodes a side, and as many as it takes for each type of place to occur: a ray's ends and its middle
Largest, AllTypes = Annotated[int, Whole(1, 16)], Annotated[int, Whole(3, 16)]

CLOSED = Model(D3Q19, Boundaries(("standard",) * 6))

#: the paper's order of the nine directions; its x is the slowest axis in memory, here z
PAPER_DIRECTIONS = (
    (-1, 0, 0), (0, -1, 0), (0, 0, -1), (-1, -1, 0), (-1, 1, 0), (-1, 0, -1), (-1, 0, 1), (0, -1, -1), (0, -1, 1),
)  # fmt: skip


#: the rule at one node and one pair of directions, as every kernel of the sweep uses it
rotate = rotate_of(D3Q19, "soa")


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
    sweep = select("serial").compile(kernel or sweep_kernel(CLOSED, "soa"))
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


def regions() -> pd.DataFrame:
    """Table 4: for each of the paper's directions the region of each type, interior coordinates 1 to N, box 0 to N + 1.

    Conditions are Python expressions in x, y, z (the paper's axes) and N; `regions_hold` evaluates them.
    """
    rows = []
    for number, direction in enumerate(PAPER_DIRECTIONS, 1):
        axes = [(name, c) for name, c in zip("xyz", direction, strict=True) if c]
        starts = " or ".join(f"{name} == {'1' if c < 0 else 'N'}" for name, c in axes)
        ends = " or ".join(f"{name} == {'N' if c < 0 else '1'}" for name, c in axes)
        begins, stops = f"({starts})", f"({ends})"
        bounds = {-1: "0 <= {} < N", 0: "1 <= {} <= N", 1: "2 <= {} <= N + 1"}
        behind = " and ".join(bounds[c].format(name) for name, c in zip("xyz", direction, strict=True))
        rows.append(
            {
                "i": number,
                "j": number + 9,
                "direction": direction,
                "A": behind,
                "B": f"{begins} and not {stops}",
                "C": f"not {begins} and not {stops}",
                "D": f"{stops} and not {begins}",
                "E": f"{begins} and {stops}",
            }
        )
    return pd.DataFrame(rows)


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
    """Number of (node, direction) of a cube of `interior` nodes a side whose region agrees with `source_of`.

    All of them are (interior + 2)^3 * 9; A is the region's part outside the interior.
    """
    source, agree = source_of(CLOSED), 0
    extent = interior + 2
    for row in regions().to_dict("records"):
        i = D3Q19.velocities.index(row["direction"][::-1])
        codes = {kind: compile(row[kind], kind, "eval") for kind in "ABCDE"}
        for x, y, z in product(range(extent), repeat=3):
            names = {"x": x, "y": y, "z": z, "N": interior}
            inside = all(1 <= p <= interior for p in (x, y, z))
            allowed = "BCDE" if inside else "A"
            holds = [kind for kind in allowed if eval(codes[kind], {}, names)]
            expected = Source(source(i, z, y, x, (extent,) * 3)).name
            agree += holds == ([] if expected == "NONE" else [expected])
    return agree


@checked
def grids_that_agree(largest: Largest, seed: Seed = 1) -> tuple[int, int]:
    """(grids, populations) on which taking by types left bit for bit what the serial sweep leaves.

    All grids of 1 to `largest` interior nodes a side, cubic or not, from random populations.
    """
    device, random = select("serial"), np.random.default_rng(seed)
    sweep, take = (
        device.compile(sweep_kernel(CLOSED, "soa")),
        device.compile(type_kernel(CLOSED, np.float64, "soa", 128)),
    )
    grids = populations = 0
    for sides in product(range(1, largest + 1), repeat=3):
        shape = tuple(side + 2 for side in sides)
        before = random.uniform(-1, 1, D3Q19.q * int(np.prod(shape)))
        swept, taken = before.copy(), np.empty_like(before)
        sweep(shape, swept, Grid(*shape))()
        take(shape, before, taken, Grid(*shape))()
        grids += bool((swept == taken).all())
        populations += int((swept == taken).sum())
    return grids, populations
