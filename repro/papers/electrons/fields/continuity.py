"""How exactly the deposition conserves charge, for random segments in both precisions."""

import numpy as np
import pandas as pd

from repro.errors import require_whole
from repro.pic.deposition import EDGES, make_deposit, units_of_weight
from repro.pic.mesh import Mesh
from repro.pic.observables import charges_in_cells, continuity_errors, continuity_residual

#: types by the names of precisions
REALS = {"single": np.float32, "double": np.float64}

#: cells along each axis of the box in which many segments are added up
CELLS = 8

#: residual that rounding leaves, of the largest density
ROUNDING = {"single": 1e-6, "double": 1e-14}


def _moved(mesh: Mesh, cells: np.ndarray, real, unit: float, seed: int):
    """Random segments, each inside its cell: weights, charges at their starts and at their ends, and the currents."""
    numbers, count = np.random.default_rng(seed), len(cells)
    start, end = (tuple(numbers.uniform(0, 1, (3, count)).astype(real)) for _ in range(2))
    weight, nodes = numbers.uniform(0.5, 1.5, count).astype(real), mesh.nodes(cells)
    currents = np.zeros(EDGES * mesh.layout.nodes, np.int64)
    deposit = make_deposit(real, lambda sums, index, value: np.add.at(sums, index, value))
    deposit(currents, EDGES * nodes, start, end, weight * real(unit))
    return weight, *(charges_in_cells(mesh, nodes, place, weight, unit) for place in (start, end)), currents


def single_segments(real, count: int, seed: int = 1) -> np.ndarray:
    """For each of `count` segments the largest error of continuity at the corners of its cell, over its charge."""
    require_whole("segments", count, 1, 32_000)
    # each has a cell for itself, and an empty one beside it
    mesh = Mesh((2 * count, 1, 1), (1.0,) * 3, ("conducting",) * 3)
    cells = np.stack([2 * np.arange(count), *np.zeros((2, count), int)], axis=1)
    unit = units_of_weight(2.0 * count)
    weight, *moved = _moved(mesh, cells, real, unit, seed)
    errors = np.abs(continuity_errors(mesh, *moved))[..., :-1].reshape(2, 2, count, 2)
    return errors.max(axis=(0, 1, 3)) / (weight.astype(float) * unit)


def sums(counts, seed: int = 1) -> pd.DataFrame:
    """Residual of continuity of many segments in a periodic box of CELLS^3 cells, over the largest charge of a node.

    The limit is what rounding leaves, or cutting shares to whole numbers at the worst, whichever is more.
    """
    rows, mesh = [], Mesh((CELLS,) * 3, (1.0,) * 3)
    for count in counts:
        require_whole("segments of a sum", count, 1, 10**8)
        cells, unit = np.random.default_rng(seed + 1).integers(0, CELLS, (count, 3)), units_of_weight(2.0 * count)
        for name, real in REALS.items():
            _, before, after, currents = _moved(mesh, cells, real, unit, seed)
            # a segment may lose a unit of the sums on each of a node's three edges, and in the charge at either end
            cut = 5 * _most(cells) / max(np.abs(before).max(), np.abs(after).max())
            residual = continuity_residual(mesh, before, after, currents)
            rows.append((name, count, residual, max(ROUNDING[name], cut)))
    return pd.DataFrame(rows, columns=["precision", "segments", "residual", "limit"])


def _most(cells: np.ndarray) -> int:
    """The largest number of segments in the eight cells around a node."""
    found = np.zeros((CELLS,) * 3, int)
    np.add.at(found, tuple(cells.T), 1)
    for axis in range(3):
        found = found + np.roll(found, 1, axis)
    return int(found.max())
