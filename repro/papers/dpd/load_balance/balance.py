"""Load balancing with one thread per cell: warp divergence predicted and measured (section 4.4)."""

from collections.abc import Iterable
from itertools import product
from statistics import median

import numpy as np
import pandas as pd

from repro.dpd.benchmark import INCLUDES_FORCES, check_forces, reference_forces, size_of
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import cell
from repro.dpd.system import System, in_cell_order
from repro.dpd.uneven import particles_in_cells
from repro.papers.speed import RUNS, of_runs, quotients, record_launches
from repro.parallel import time_launches
from repro.particles.cells import ALL_CELLS, OWN_CELL

WARP = 32

#: orders in which threads are assigned to cells; in the last, cells change places within blocks of neighbours only
ORDERS = ("natural", "by particles", "by pairs", "by particles in blocks")

#: cells of such a block: 32 warps
BLOCK = 32 * WARP


def pairs_of_cells(counts: np.ndarray, shape) -> np.ndarray:
    """Candidate pairs w_c of each cell: those within the cell, and with its thirteen later neighbours."""
    own = counts.reshape(shape[::-1]).astype(np.int64)
    pairs = own * (own - 1) // 2
    for k in range(OWN_CELL + 1, ALL_CELLS):
        step = (k // 9 - 1, (k // 3) % 3 - 1, k % 3 - 1)
        pairs += own * np.roll(own, [-s for s in step], (0, 1, 2))
    return pairs.ravel()


def cell_order(name: str, counts: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The cells in one of ORDERS: by index, fullest first (our reading of the paper), by pairs, or in blocks."""
    if name == "natural":
        return np.arange(len(counts))
    if name == "by particles in blocks":
        return np.lexsort((-counts, np.arange(len(counts)) // BLOCK))
    return np.argsort(-(counts if name == "by particles" else pairs), kind="stable")


def shares_in_groups(work: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Work of the threads, of shape (groups, 32): a row is a warp, the last padded with idle threads."""
    padded = np.zeros(-(-len(order) // WARP) * WARP, work.dtype)
    padded[: len(order)] = work[order]
    return padded.reshape(-1, WARP)


def warp_share(work: np.ndarray, order: np.ndarray) -> float:
    """Share of the lanes of all warps that work: a warp takes as long as its thread with the most work."""
    warps = shares_in_groups(work, order)
    return float(warps.mean() / warps.max(1).mean())


def model_table(systems: dict) -> pd.DataFrame:
    """A row a density: the fullest cell, how uneven the work is, and each order's share of lanes that work."""
    rows = []
    for name, system in systems.items():
        counts = particles_in_cells(system)
        pairs = pairs_of_cells(counts, system.cells.shape)
        row = {"density": name, "particles": system.count, "cells": len(counts), "fullest cell": int(counts.max())}
        row |= {"empty cells": (counts == 0).mean(), "pairs, largest over mean": pairs.max() / pairs.mean()}
        row |= {order: warp_share(pairs, cell_order(order, counts, pairs)) for order in ORDERS}
        rows.append(row | {"predicted gain": row["by particles"] / row["natural"]})
    return pd.DataFrame(rows)


def balance_gain(systems: Iterable[System]) -> dict:
    """Share of the lanes that work with the cells sorted by load, over that with the cells as they lie, see `of_runs`.

    Our measure of what figures 4 and 5 show, counted from the candidate pairs: the same on any machine.
    """
    return of_runs(model_table(dict(enumerate(systems)))["predicted gain"])


def _fullest(systems: dict) -> int:
    """Particles in the fullest cell of all densities: the capacity of the table that has room for each."""
    return max(int(particles_in_cells(system).max()) for system in systems.values())


def times_table(systems: dict, device, strategies, record=None, *, seconds: float) -> pd.DataFrame:
    """Seconds of lists and forces at fixed positions, one row per density and strategy, each checked first.

    The kernel is the forces alone; the table of cells has room for the fullest cell of all densities.
    """
    capacity, rows = _fullest(systems), []
    for name, system in systems.items():
        expected = reference_forces(system, rounds=PAPER_ROUNDS)
        for strategy in strategies:
            simulation = Simulation(system, device, strategy=strategy, rounds=PAPER_ROUNDS, capacity=capacity)
            check, parts = check_forces(simulation, expected), simulation.forces.parts
            whole, kernel = (time_launches(each, device, seconds) for each in (parts.values(), [parts["forces"]]))
            names = ("clear the loads", "count the loads", "scan the loads", "sort by load")
            sorting = [parts[part] for part in names if part in parts]
            sorted_in = time_launches(sorting, device, seconds).seconds if sorting else 0.0
            more = {"strategy": strategy, "particles": system.count, "kernel": kernel.seconds, "sorting": sorted_in}
            rows.append({"density": name, "seconds": whole.seconds, "spread": whole.spread} | more)
            more |= {"capacity": capacity, "includes": INCLUDES_FORCES, "check": check, "size": size_of(system)}
            record_launches(record, f"{strategy}, {name}", device, whole, precision=simulation.precision, **more)
    columns = ["density", "strategy", "particles", "seconds", "kernel", "spread", "sorting"]
    return pd.DataFrame(rows, columns=columns)


def causes_table(system: System, device, *, seconds: float) -> pd.DataFrame:
    """Time of the kernel of one thread per cell over that in the natural order, by the order of cells and of particles.

    Sorting the cells improves the balance and parts neighbours, in blocks it parts them less; particles in the order of
    their cells are near in memory whatever thread takes them. "runs" are the gains of each of `RUNS` runs.
    """
    counts = particles_in_cells(system)
    pairs, rows = pairs_of_cells(counts, system.cells.shape), []
    orders = {name: cell_order(name, counts, pairs) for name in ORDERS}
    for lie, chosen in (("random", system), ("by cell", in_cell_order(system))):
        times = {name: [] for name in ORDERS}
        for _, (name, order) in product(range(RUNS), orders.items()):
            made = Simulation(chosen, device, strategy="cell", rounds=PAPER_ROUNDS, capacity=int(counts.max()))
            forces = cell.build(made.setup, device.to_device(order.astype(np.int32)))
            forces.run()
            times[name].append(time_launches([forces.parts["forces"]], device, seconds).seconds)
        for name, each in times.items():
            gain = quotients(times["natural"], each)
            rows.append((lie, name, warp_share(pairs, orders[name]), median(gain), gain))
    return pd.DataFrame(rows, columns=["particles", "cells", "lanes that work", "gain", "runs"])


def slowdowns(systems: dict, device, *, seconds: float) -> dict[str, list[float]]:
    """How many times as long each of the paper's mappings takes on the drops as at the even density, in `RUNS` runs."""
    options = {"rounds": PAPER_ROUNDS, "capacity": _fullest(systems)}

    def time(name: str, strategy: str) -> float:
        made = Simulation(systems[name], device, strategy=strategy, **options)
        return time_launches(made.forces.parts.values(), device, seconds).seconds

    return {way: [time("drops", way) / time("even", way) for _ in range(RUNS)] for way in ("cell", "particle")}


def gains(times: pd.DataFrame, model: pd.DataFrame) -> pd.DataFrame:
    """Speedup by sorting by load at each density: predicted, of the force kernel, and with lists and sorting."""
    plain, sorted_ = (times[times["strategy"] == name].set_index("density") for name in ("cell", "cell by load"))
    more = {"kernel": plain["kernel"] / sorted_["kernel"], "with sorting": plain["seconds"] / sorted_["seconds"]}
    more |= {"sorting (% of lists and forces)": 100 * sorted_["sorting"] / sorted_["seconds"]}
    return model.set_index("density")[["predicted gain"]].assign(**more).reset_index()


def extra_memory(systems: dict) -> float:
    """Memory for sorting by load (an order and a rank a cell, a histogram) over that of a table with room for all."""
    cells, capacity = next(iter(systems.values())).cells.count, _fullest(systems)
    return 4 * (2 * cells + 2 * capacity + 3) / (4 * cells * (capacity + 2))
