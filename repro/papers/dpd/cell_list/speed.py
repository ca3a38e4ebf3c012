"""Speed of the cell lists, of clearing them, and of the atomic additions that fill them (section 4.1)."""

from functools import cache
from itertools import product
from statistics import median

import numpy as np
import pandas as pd

from repro.dpd.benchmark import INCLUDES as INCLUDES_STEPS
from repro.dpd.benchmark import measure_speed, size_of
from repro.dpd.cases import Bulk
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.system import System, in_cell_order
from repro.errors import CheckError
from repro.papers.speed import RUNS, of_runs, quotients, record_launches
from repro.parallel import device_function, part_seconds, time_launches, zero
from repro.particles.cell_table import fill_body
from repro.particles.launch import launch_of
from repro.particles.position import Units, vectors

from .contents import LISTS, TABLE, cell_by_particle, make_list

#: what every timer here includes
INCLUDES = "the launches that build the list from the positions, replayed as one graph on a GPU; no copy to the host"

RANDOM, ORDERED = "random", "by cell"

#: numbers of particles for which the paper states the time of an update
PAPER_SIZES = (65536, 524288)

#: height of a column that is judged
JUDGED_HEIGHT = 32


def measure_lists(boxes, device, record=None, *, capacity: int, seconds: float) -> pd.DataFrame:
    """Seconds of each part of each list, one row per part, for bulk fluid in boxes and both orders of the particles.

    Each list is compared with the host's, and the time of the whole list goes to `record`.
    """
    rows = []
    for box, name, order in product(boxes, LISTS, (RANDOM, ORDERED)):
        system = Bulk(tuple(box)).system()
        position = (system if order == RANDOM else in_cell_order(system)).position
        made, parts, on = make_list(name, position, system.cells, device, capacity)
        whole = time_launches(parts.values(), on, seconds)
        check = _checked(name, made, on, position, system.cells)
        about = (name, on.name, order, system.count)
        rows += [(*about, *part, whole.seconds) for part in part_seconds(parts, on, seconds).items()]
        more = {"includes": INCLUDES, "check": check, "updates": system.count / whole.seconds, "size": size_of(system)}
        record_launches(record, f"{name}, {order}, {system.count}", on, whole, **more)
    return pd.DataFrame(rows, columns=["list", "device", "order", "particles", "part", "seconds", "whole"])


def _checked(name: str, made, device, position, cells) -> str:
    if name == TABLE:
        made.check()
    placed = cell_by_particle(name, made, device, len(position))
    right = int((placed == cells.of(position)).sum())
    if right < len(position):
        raise CheckError(f"{name}: only {right} of {len(position)} particles are in their cell")
    return f"{right} of {len(position)} particles in the cell that the host finds"


def totals(parts: pd.DataFrame) -> pd.DataFrame:
    """One row per list, order and size: microseconds of the whole list, and particles a second."""
    table = parts.drop_duplicates(["list", "order", "particles"], ignore_index=True)
    table = table.assign(microseconds=1e6 * table["whole"], rate=table["particles"] / table["whole"])
    return table[["list", "device", "order", "particles", "microseconds", "rate"]]


def clearing_table(boxes, heights, device, *, seconds: float, runs: int) -> pd.DataFrame:
    """Microseconds to fill the table and to clear all of it, counts and entries, by particles and height of a column.

    Medians over independent runs, with fill / clear of each in "runs". The time to fill is that of the whole update
    less that of clearing the counts: no part runs alone.
    """
    rows = []
    for box, height in product(boxes, heights):
        system = Bulk(tuple(box)).system()
        each = np.array([_clearing(system, device, height, seconds) for _ in range(runs)])
        ratios = each[:, 0] / each[:, 1]
        rows.append((system.count, height, *np.median(each, axis=0), np.median(ratios), ratios.tolist()))
    return pd.DataFrame(rows, columns=["particles", "height", "fill (us)", "clear (us)", "fill / clear", "runs"])


def _clearing(system: System, device, height: int, seconds: float) -> list[float]:
    made, parts, _ = make_list(TABLE, system.position, system.cells, device, height)
    everything = [launch_of(device, zero, len(array), array) for array in (made.counts, made.entries)]
    fill = part_seconds(parts, device, seconds)["fill the table"]
    return [1e6 * fill, 1e6 * time_launches(everything, device, seconds).seconds]


@cache
def _alone_body(real, add):
    fill = fill_body(real, add)

    @device_function
    def alone(x, n, r, table, count, cells):
        for _ in range(x, x + n):
            fill(0, count, r, table, count, cells)

    return alone


def one_thread(box, device, *, seconds: float) -> dict[str, list[float]]:
    """Particles a second of `RUNS` runs in which all threads fill the table with atomic additions, or one thread."""
    system, found = Bulk(tuple(box)).system(), {"atomic": [], "one thread": []}
    cells = system.cells
    for _ in range(RUNS):
        made, parts, on = make_list(TABLE, system.position, cells, device, JUDGED_HEIGHT)
        r = vectors(on, Units(np.float32).of(system.position, cells.box))
        alone = launch_of(on, _alone_body(np.float32, on.add), 1, r, made.table, system.count, cells.shape)
        for name, launches in zip(found, (parts.values(), [parts["clear the table"], alone]), strict=True):
            found[name].append(system.count / time_launches(launches, on, seconds).seconds)
            _checked(TABLE, made, on, system.position, cells)
    return found


def step_shares(boxes, device, record=None, *, capacity: int, seconds: float, runs: int):
    """Per cent of a step that the table takes, a thread a particle, in medians of runs; "runs" has that of each."""
    rows = []
    options = {"strategy": "particle", "rounds": PAPER_ROUNDS, "capacity": capacity, "seconds": seconds, "runs": runs}
    for box in boxes:
        system = Bulk(tuple(box)).system()
        speed = measure_speed(f"whole step, {system.count}", system, device, **options)
        if record is not None:
            record.timing(**speed.row, includes=INCLUDES_STEPS)
        updates = [_update(system, device, capacity, seconds) for _ in range(runs)]
        shares = [100 * update / step for update, step in zip(updates, speed.runs, strict=True)]
        rows.append((system.count, 1e6 * median(updates), 1e6 * speed.seconds, median(shares), shares))
    return pd.DataFrame(rows, columns=["particles", "list (us)", "step (us)", "share (%)", "runs"])


def _update(system: System, device, capacity: int, seconds: float) -> float:
    """Seconds of the table's update in one run."""
    _, parts, _ = make_list(TABLE, system.position, system.cells, device, capacity)
    return time_launches(parts.values(), device, seconds).seconds


def claim_values(speeds: pd.DataFrame, clearing: pd.DataFrame, shares: pd.DataFrame, alone: dict) -> dict[str, dict]:
    """Keywords of `Record.measure` by claim id, for the worse of the paper's sizes; empty unless both were timed."""
    if not set(PAPER_SIZES) <= set(speeds["particles"]) & set(shares["particles"]):
        return {}
    updates = speeds[(speeds["list"] == TABLE) & (speeds["order"] == RANDOM)].set_index("particles")["microseconds"]
    share = shares[shares["particles"].isin(PAPER_SIZES)].nlargest(1, "share (%)").iloc[0]
    sizes = " and ".join(map(str, PAPER_SIZES))
    both = clearing[clearing["particles"].isin(PAPER_SIZES)]
    ratio = both[both["height"] == JUDGED_HEIGHT].nlargest(1, "fill / clear").iloc[0]
    worst = both.groupby("height")["fill / clear"].max()
    others = ", ".join(f"{value:.2f} at {height}" for height, value in worst.drop(JUDGED_HEIGHT).items())
    return {
        "dpd-003": {"measured": updates[PAPER_SIZES[0]]},
        "dpd-004": {"measured": updates[PAPER_SIZES[1]]},
        "dpd-005": of_runs(share["runs"], note=f"the larger of {sizes} particles"),
        "dpd-058": of_runs(ratio["runs"], note=f"the larger of {sizes}; with other columns {others}"),
        "dpd-082": of_runs(quotients(alone["atomic"], alone["one thread"])),
    }
