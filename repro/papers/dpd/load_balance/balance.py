"""Load balancing with one thread per cell: warp divergence predicted and measured (section 4.4)."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from repro.dpd.benchmark import INCLUDES_FORCES, check_forces, reference_forces, size_of
from repro.dpd.simulation import Simulation
from repro.dpd.system import System
from repro.papers.dpd.repeated import of_runs
from repro.papers.speed import record_launches
from repro.parallel import time_launches
from repro.particles.cells import ALL_CELLS, OWN_CELL

from .uneven import particles_in_cells

WARP = 32

#: orders in which threads are assigned to cells
ORDERS = ("natural", "by particles", "by pairs")

#: the launches of "cell by load" that sort, and only they
_SORTING = ("clear the loads", "count the loads", "scan the loads", "sort by load")


def pairs_of_cells(counts: np.ndarray, shape) -> np.ndarray:
    """Candidate pairs w_c of each cell: those within the cell, and with its thirteen later neighbours."""
    own = counts.reshape(shape[::-1]).astype(np.int64)
    pairs = own * (own - 1) // 2
    for k in range(OWN_CELL + 1, ALL_CELLS):
        step = (k // 9 - 1, (k // 3) % 3 - 1, k % 3 - 1)
        pairs += own * np.roll(own, [-s for s in step], (0, 1, 2))
    return pairs.ravel()


def cell_order(name: str, counts: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The cells in one of ORDERS: by index, fullest first (the paper's), or those with the most pairs first."""
    if name == "natural":
        return np.arange(len(counts))
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


def balance_gain(systems: Iterable[System]) -> dict:
    """Share of the lanes that work with the cells sorted by load, over that with the cells as they lie, see `of_runs`.

    The paper's measure of balance (figures 4 and 5), counted from the candidate pairs: the same on any machine.
    """
    gains = []
    for system in systems:
        counts = particles_in_cells(system)
        pairs = pairs_of_cells(counts, system.cells.shape)
        natural, by_load = (warp_share(pairs, cell_order(name, counts, pairs)) for name in ("natural", "by particles"))
        gains.append(by_load / natural)
    return of_runs(gains)


def useful_share(work: np.ndarray, order: np.ndarray, device) -> float:
    """Share eta of the threads' time in which they do useful work.

    On a GPU a warp takes as long as the thread with the most work (warp divergence). On a CPU each worker takes one
    contiguous chunk of the order, and all wait for the worker with the most work.
    """
    if device.name == "cuda":
        return warp_share(work, order)
    ends = np.arange(device.workers + 1) * len(order) // device.workers
    pieces = np.diff(np.concatenate([[0], np.cumsum(work[order])])[ends])
    return float(pieces.mean() / pieces.max())


def model_table(systems: dict, device) -> pd.DataFrame:
    """One row per density: the fullest cell, how uneven the work is, and the useful share of each order.

    `systems` maps names to systems.
    """
    rows = []
    for name, system in systems.items():
        counts = particles_in_cells(system)
        pairs = pairs_of_cells(counts, system.cells.shape)
        row = {"density": name, "particles": system.count, "cells": len(counts), "fullest cell": int(counts.max())}
        row |= {"empty cells": (counts == 0).mean(), "pairs, largest over mean": pairs.max() / pairs.mean()}
        row |= {order: useful_share(pairs, cell_order(order, counts, pairs), device) for order in ORDERS}
        rows.append(row | {"predicted gain": row["by particles"] / row["natural"]})
    return pd.DataFrame(rows)


def times_table(systems: dict, device, strategies, record=None, *, seconds=0.05) -> pd.DataFrame:
    """Seconds of lists and forces at fixed positions, one row per density and strategy, each checked first.

    Columns density, strategy, particles, seconds (lists and forces), kernel (the forces alone), sorting (by load) and
    spread. The table of cells has room for the fullest cell of all densities.
    """
    capacity = max(int(particles_in_cells(system).max()) for system in systems.values())
    rows = []
    for name, system in systems.items():
        expected = reference_forces(system)
        for strategy in strategies:
            simulation = Simulation(system, device, strategy=strategy, capacity=capacity)
            check, parts = check_forces(simulation, expected), simulation.forces.parts
            whole, kernel = (time_launches(each, device, seconds) for each in (parts.values(), [parts["forces"]]))
            sorting = [parts[part] for part in _SORTING if part in parts]
            row = {"density": name, "strategy": strategy, "particles": system.count, "seconds": whole.seconds}
            row |= {"kernel": kernel.seconds, "spread": whole.spread}
            row |= {"sorting": time_launches(sorting, device, seconds).seconds if sorting else 0.0}
            rows.append(row)
            more = {key: row[key] for key in ("strategy", "particles", "kernel", "sorting")}
            more |= {"precision": simulation.precision, "capacity": capacity, "includes": INCLUDES_FORCES}
            record_launches(record, f"{strategy}, {name}", device, whole, size=size_of(system), check=check, **more)
    return pd.DataFrame(rows)


def gains(times: pd.DataFrame, model: pd.DataFrame) -> pd.DataFrame:
    """Speedup by sorting by load at each density: predicted, of the force kernel, and with lists and sorting."""
    at = times.set_index(["strategy", "density"])
    plain, sorted_ = at.loc["cell"], at.loc["cell by load"]
    table = model.set_index("density")[["predicted gain"]]
    table["kernel"] = plain["kernel"] / sorted_["kernel"]
    table["with sorting"] = plain["seconds"] / sorted_["seconds"]
    table["sorting (% of lists and forces)"] = 100 * sorted_["sorting"] / sorted_["seconds"]
    return table.reset_index()


def slowdown(times: pd.DataFrame) -> pd.Series:
    """How many times as long each strategy takes on the drops as at the even density, from `times_table`."""
    seconds = times.set_index(["strategy", "density"])["seconds"].unstack("density")
    return (seconds["drops"] / seconds["even"]).rename("drops / even")


def note(device, gained: pd.DataFrame) -> str:
    """How the balance was counted, and the gain in time, which is not judged; from `gains`."""
    drops = gained.set_index("density").loc["drops"]
    return (
        f"counted from the candidate pairs; in time on {device.name} the force kernel alone gains "
        f"{drops['kernel']:.2f}, with lists and sorting {drops['with sorting']:.2f}"
    )


def extra_memory(systems: dict) -> float:
    """Memory for sorting by load over that of the table, with room for the fullest cell of all densities.

    Sorting needs an order and a rank per cell, and a histogram.
    """
    counts = [particles_in_cells(system) for system in systems.values()]
    cells, capacity = len(counts[0]), max(int(each.max()) for each in counts)
    return 4 * (2 * cells + 2 * capacity + 3) / (4 * cells * (capacity + 2))


def in_milliseconds(times: pd.DataFrame) -> pd.DataFrame:
    """The table of times for display, in milliseconds."""
    units = {"seconds": "all (ms)", "kernel": "forces (ms)", "sorting": "sorting (ms)"}
    return times.assign(**{column: 1e3 * times[column] for column in units}).rename(columns=units)
