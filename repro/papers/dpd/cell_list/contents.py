"""Contents of the paper's linked list (table 1), its table of fixed capacity (table 2), and the counting sort.

As tables for readers, and compared with the host's lists (section 4.1). Particles and cells are numbered from 0.
"""

import numpy as np
import pandas as pd
from scipy.stats import poisson

from repro.dpd.cases import Bulk
from repro.dpd.fluid import Fluid
from repro.dpd.simulation import Simulation
from repro.dpd.state import make_state
from repro.dpd.uneven import particles_in_cells
from repro.errors import CapacityError, CheckError, require
from repro.parallel import select
from repro.parallel.launch_sequence import in_turn
from repro.particles.cell_permutation import SortedParticles
from repro.particles.cell_table import CellTable
from repro.particles.cells import ALL_CELLS, OWN_CELL, Cells, neighbour, place_of
from repro.particles.linked_list import NO_PARTICLE, LinkedList

#: the paper's table 1, numbered from 1, and 0 for none: array A has the particle before each one in its cell, array B
#: the last one of each cell
ARRAY_A = (0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 7, 8, 1, 2)
ARRAY_B = (12, 4, 11, 10, 13, 5, 14, 6, 9)

#: its table 2: a column a cell
TABLE_2 = ((8, 4, 7, 10, 1, 5, 2, 3, 9), (12, 0, 11, 0, 13, 0, 14, 6, 0), (0,) * 9)

#: the lists, by name
LINKED, TABLE, SORTED = "linked list", "table", "counting sort"
LISTS = (LINKED, TABLE, SORTED)

_REAL = np.float32


def make_list(name: str, position: np.ndarray, cells: Cells, device, capacity: int):
    """A list for particles at positions of shape (count, 3), its launches, and where it is built: linked, on a core."""
    device = select("serial") if name == LINKED else device
    state = make_state(device, _REAL, position, np.zeros_like(position), len(position), cells.box)
    if name == LINKED:
        made, of = LinkedList(device, cells, state.count, _REAL), (state.r,)
    elif name == TABLE:
        made, of = CellTable(device, cells, capacity, _REAL), (state.r, state.count)
    else:
        made, of = SortedParticles(device, state, cells, _REAL), ()
    return made, made.update(*of), device


def launched(name: str, position: np.ndarray, cells: Cells, device, capacity: int):
    """A list that has been built once, and where; raises CapacityError if the table is too small."""
    made, parts, device = make_list(name, position, cells, device, capacity)
    in_turn(*parts.values())
    if name == TABLE:
        made.check()
    return made, device


def cell_by_particle(name: str, made, device, count: int) -> np.ndarray:
    """The cell in whose list each particle is; raises InputError if a particle is in no list, or in two."""
    if name == LINKED:
        current, before = device.to_host(made.last), device.to_host(made.before)
        cells, pairs = np.arange(len(current)), []
        while len(current):
            there = current != NO_PARTICLE
            pairs.append((current[there], cells[there]))
            current, cells = before[current[there]], cells[there]
        particles, cells = np.concatenate(pairs, axis=1)
    elif name == TABLE:
        counts = device.to_host(made.counts)
        rows, cells = np.nonzero(np.arange(made.capacity)[:, None] < counts)
        particles = device.to_host(made.entries).reshape(made.capacity, -1)[rows, cells]
    else:
        counts = np.diff(device.to_host(made.starts))
        particles, cells = device.to_host(made.ids), np.repeat(np.arange(len(counts)), counts)
    times = np.bincount(particles, minlength=count)
    wrong = f"{int((times == 0).sum())} particles are in no cell, {int((times > 1).sum())} in two"
    require((times == 1).all(), f"{name}: {wrong}")
    placed = np.empty(count, int)
    placed[particles] = cells
    return placed


def compare_lists(boxes, device, capacity: int) -> pd.DataFrame:
    """For each box of random fluid and each list: how many particles are in the cell that the host finds."""
    rows = []
    for box in boxes:
        system = Bulk(tuple(box)).system()
        expected = system.cells.of(system.position)
        for name in LISTS:
            made, on = launched(name, system.position, system.cells, device, capacity)
            placed = cell_by_particle(name, made, on, system.count)
            found = int(np.bincount(placed).max()), int((placed == expected).sum())
            rows.append((name, on.name, system.count, system.cells.count, *found))
    return pd.DataFrame(rows, columns=["list", "device", "particles", "cells", "fullest cell", "in the right cell"])


def memberships(before, last) -> np.ndarray:
    """The cell of each particle, from 0, by following the links of table 1 from the last particle of each cell."""
    cell = np.full(len(before), -1)
    for c, particle in enumerate(last):
        while particle:
            cell[particle - 1], particle = c, before[particle - 1]
    return cell


def example(seed: int = 220) -> np.ndarray:
    """Positions of the paper's 14 particles in the cells of its table 1, the lowest layer of a box of 3 x 3 x 3."""
    cell = memberships(ARRAY_A, ARRAY_B)
    corner = np.column_stack([cell % 3, cell // 3, np.zeros(len(cell))])
    return corner + np.random.default_rng(seed).uniform(0.2, 0.8, (len(cell), 3))


def example_lists(position: np.ndarray, device) -> dict[str, pd.DataFrame]:
    """Tables 1 and 2 as our lists have them, and the counting sort, numbered as in the paper.

    The table is filled on one core, particle after particle: threads that fill it come in any order.
    """
    cells, core = Cells((3.0, 3.0, 3.0)), select("serial")
    linked, table = (launched(name, position, cells, core, len(TABLE_2))[0] for name in (LINKED, TABLE))
    ordered, on = launched(SORTED, position, cells, device, len(TABLE_2))
    nine, everyone = [f"cell {c}" for c in range(1, 10)], [str(i) for i in range(1, len(position) + 1)]
    filled = np.arange(len(TABLE_2))[:, None] < table.counts[:9]
    rows = np.where(filled, table.entries.reshape(len(TABLE_2), -1)[:, :9] + 1, 0)
    return {
        "array A": pd.DataFrame([linked.before + 1], ["before"], everyone),
        "array B": pd.DataFrame([linked.last[:9] + 1], ["last"], nine),
        "table 2": pd.DataFrame(rows, columns=nine),
        "start of each cell": pd.DataFrame([on.to_host(ordered.starts)[:9]], ["start"], nine),
        "particles in the order of cells": pd.DataFrame([on.to_host(ordered.ids) + 1], ["particle"], everyone),
    }


def entries_as_printed(lists: dict[str, pd.DataFrame]) -> tuple[int, int]:
    """How many entries of tables 1 and 2 the lists of `example_lists` have as the paper prints them."""
    first = (lists["array A"].to_numpy() == ARRAY_A).sum() + (lists["array B"].to_numpy() == ARRAY_B).sum()
    return int(first), int((lists["table 2"].to_numpy() == TABLE_2).sum())


def cells_visited(shape: tuple[int, int, int]) -> tuple[float, str]:
    """How many cells a particle must look into for each pair to be met once, and what was counted, in a grid.

    Each two cells that touch, and each cell with itself, must meet in one of them: their number over that of the cells.
    Raises CheckError unless the half stencil of the strategies meets each of them exactly once.
    """
    cells, half = range(int(np.prod(shape))), range(OWN_CELL, ALL_CELLS)
    touching = {frozenset((c, neighbour(place_of(c, shape), k, shape))) for c in cells for k in range(ALL_CELLS)}
    met = [frozenset((c, neighbour(place_of(c, shape), k, shape))) for c in cells for k in half]
    if not len(met) == len(touching) == len(touching & set(met)):
        raise CheckError(f"the half stencil meets {len(set(met))} of {len(touching)} pairs of cells, {len(met)} times")
    counted = f"{len(touching)} pairs of cells that touch or are the same, in {len(cells)} cells, each met once"
    return len(touching) / len(cells), counted


def overflow(box, device, capacity: int) -> tuple[str, int]:
    """Run a fluid with a table that is too small: the simulation's error, and how many particles were in no cell."""
    system = Bulk(tuple(box)).system()
    lost = int(np.maximum(particles_in_cells(system) - capacity, 0).sum())
    try:
        Simulation(system, device, strategy="particle", capacity=capacity).step(2)
    except CapacityError as error:
        return str(error), lost
    return f"no cell ever held more than {capacity} particles", lost


def capacity_table(capacities, cells: int, density: float = Fluid.density) -> pd.DataFrame:
    """How many of `cells` overflow with particles at random positions, and the table's bytes per particle.

    The number of particles in a cell of volume one then has a Poisson distribution.
    """
    rows = [(c, cells * poisson.sf(c, density), 4 * (c + 2) / density) for c in capacities]
    return pd.DataFrame(rows, columns=["capacity", "cells that overflow, expected", "bytes a particle"])


def memory_table(box, device, capacity: int) -> pd.DataFrame:
    """Bytes per particle of each list's arrays."""
    system, rows = Bulk(tuple(box)).system(), []
    for name in LISTS:
        made, _, on = make_list(name, system.position, system.cells, device, capacity)
        # of an array that has two names once
        kept = {id(value): (key, value) for key, value in vars(made).items() if isinstance(value, on.xp.ndarray)}
        arrays = {key: value.nbytes for key, value in kept.values()}
        moved = sum(arrays.get(key, 0) for key in ("r", "u", "v", "ids"))
        rows.append((name, (sum(arrays.values()) - moved) / system.count, moved / system.count))
    return pd.DataFrame(rows, columns=["list", "bytes a particle", "and for its sorted copies"])
