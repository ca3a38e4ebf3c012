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
from repro.dpd.state import make_state
from repro.dpd.system import System, in_cell_order
from repro.errors import CheckError
from repro.papers.dpd.repeated import RUNS, of_runs, quotients
from repro.papers.speed import record_launches
from repro.parallel import Kernel, device_function, part_seconds, time_launches, zero
from repro.particles.cell_table import fill_body

from .contents import LISTS, TABLE, cell_by_particle, make_list

#: what every timer here includes
INCLUDES = "the launches that build the list from the positions, replayed as one graph on a GPU; no copy to the host"

RANDOM, ORDERED = "random", "by cell"

#: numbers of particles for which the paper states the time of an update
PAPER_SIZES = (65536, 524288)

#: height of a column that is judged
JUDGED_HEIGHT = 32


def measure_lists(boxes, device, record=None, *, capacity: int = 32, seconds: float = 0.02) -> pd.DataFrame:
    """Seconds of each part of each list, one row per part, for bulk fluid in boxes and both orders of the particles.

    Each list is compared with the host's before it is timed, and the time of the whole list goes to `record`.
    """
    rows = []
    for box in boxes:
        system = Bulk(tuple(box)).system()
        for name in LISTS:
            for order in (RANDOM, ORDERED):
                position = (system if order == RANDOM else in_cell_order(system)).position
                made, parts, on = make_list(name, position, system.cells, device, capacity)
                whole = time_launches(parts.values(), on, seconds)
                check = _checked(name, made, on, position, system.cells)
                shares = part_seconds(parts, on, seconds)
                about = {"list": name, "device": on.name, "order": order, "particles": system.count}
                rows += [about | {"part": p, "seconds": share, "whole": whole.seconds} for p, share in shares.items()]
                more = {"includes": INCLUDES, "check": check, "updates": system.count / whole.seconds}
                title = f"{name}, {order}, {system.count}"
                record_launches(record, title, on, whole, size=size_of(system), **more)
    return pd.DataFrame(rows)


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
    more = {"microseconds": 1e6 * table["whole"], "rate": table["particles"] / table["whole"]}
    return table[["list", "device", "order", "particles"]].assign(**more)


def clearing_table(boxes, heights, device, *, seconds: float = 0.02, runs: int = 1) -> pd.DataFrame:
    """Microseconds to fill the table and to clear all of it, counts and entries, by particles and height of a column.

    Medians over independent runs, each of arrays of its own; the column "runs" has fill / clear in each. The time to
    fill is that of the whole update less that of clearing the counts: no part runs alone.
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
    clear = device.compile(Kernel(zero))
    everything = [clear((len(array),), array) for array in (made.counts, made.entries)]
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


def one_thread(box, device, *, capacity: int = 32, seconds: float = 0.02) -> dict[str, list[float]]:
    """Particles a second by which the table is filled: by all threads with atomic additions, and by a single thread.

    In `RUNS` independent runs each.
    """
    system, found = Bulk(tuple(box)).system(), {"atomic": [], "one thread": []}
    for _ in range(RUNS):
        made, parts, on = make_list(TABLE, system.position, system.cells, device, capacity)
        state = make_state(on, np.float32, system.position, system.velocity, system.count, system.cells.box)
        alone = on.compile(Kernel(_alone_body(np.float32, on.add)))(
            (1,), state.r, made.table, system.count, system.cells.shape
        )
        sequences = {"atomic": list(parts.values()), "one thread": [parts["clear the table"], alone]}
        for name, launches in sequences.items():
            found[name].append(system.count / time_launches(launches, on, seconds).seconds)
            _checked(TABLE, made, on, system.position, system.cells)
    return found


def step_shares(boxes, device, record=None, *, capacity: int = 32, seconds: float = 0.02, runs: int = 1):
    """Per cent of a whole step that the table takes, one thread per particle and TEA as in the paper.

    Medians over independent runs; the column "runs" has the share in each.
    """
    rows = []
    for box in boxes:
        system = Bulk(tuple(box)).system()
        options = {"rounds": PAPER_ROUNDS, "capacity": capacity, "seconds": seconds, "runs": runs}
        speed = measure_speed(f"whole step, {system.count}", system, device, strategy="particle", **options)
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
    """Keywords of `Record.measure` by claim id; empty unless both of the paper's sizes were timed.

    From the tables `totals`, `clearing_table` and `step_shares` and from `one_thread` on a GPU. Of both sizes the one
    counts that is worse for the claim.
    """
    if not set(PAPER_SIZES) <= set(speeds["particles"]) & set(shares["particles"]):
        return {}
    updates = speeds[(speeds["list"] == TABLE) & (speeds["order"] == RANDOM)].set_index("particles")
    small, large = (updates.loc[size] for size in PAPER_SIZES)
    share = shares[shares["particles"].isin(PAPER_SIZES)].nlargest(1, "share (%)").iloc[0]
    sizes = " and ".join(str(size) for size in PAPER_SIZES)
    both = clearing[clearing["particles"].isin(PAPER_SIZES)]
    ratio = both[both["height"] == JUDGED_HEIGHT].nlargest(1, "fill / clear").iloc[0]
    worst = both.groupby("height")["fill / clear"].max()
    others = ", ".join(f"{value:.2f} at {height}" for height, value in worst.drop(JUDGED_HEIGHT).items())
    return {
        "dpd-003": {"measured": small["microseconds"]},
        "dpd-004": {"measured": large["microseconds"]},
        "dpd-005": of_runs(share["runs"], note=f"the larger of {sizes} particles"),
        "dpd-058": of_runs(ratio["runs"], note=f"the larger of {sizes}; with other columns {others}"),
        "dpd-082": of_runs(quotients(alone["atomic"], alone["one thread"])),
    }
