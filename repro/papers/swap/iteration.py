"""Where an iteration's time goes, part by part (swap paper, table 1 and figures 8 to 10)."""

import gc
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

from repro.errors import InputError, MemoryLimitError, require
from repro.exclusive_timing import exclusive_timing
from repro.lbm.cases import CubicCavity
from repro.lbm.model import Problem
from repro.papers import speed as speeds
from repro.parallel import host_clock

from .hybrid import Period, check_period, hybrid_period, resident_period, serial_period
from .palabos import palabos_collide_only_period, palabos_hybrid_period, palabos_period

#: seconds after which a period is not repeated
LONG = 1.0

#: independent runs, of which the median counts: the fewest that tell how far runs lie apart
RUNS = 3

INCLUDES = "every part of an iteration by the host's clock, its launch and waiting for it included"

#: Palabos, and ours after the paper's hybrid and after what came between
PALABOS, PAPER_WAY, COLLIDE_ONLY = "Palabos", "Palabos, bulk on the GPU", "Palabos, collision on the GPU"

#: the ways that claims compare
COMPARED = (PALABOS, COLLIDE_ONLY, PAPER_WAY)

#: our own serial sweep, and our own cavity by types: over the bus in each iteration, and without it
SERIAL, OUR_BUS, RESIDENT = "our sweep", "types, host every step", "types, resident"

#: copies over the bus
BUS = ("to the GPU", "to the host")

#: parts that are neither collision and streaming of the bulk nor the copies made for them
REST = ("boundary", "boundary collision", "boundary stream", "rest")


def ways_on(device, palabos: Path, gpu: bool) -> dict:
    """The ways to run an iteration, by name: functions from a problem to a Period; Palabos' where it is built."""
    built, ours = palabos.is_file(), {SERIAL: serial_period}
    ways = {PALABOS: partial(palabos_period, path=palabos)} if built else {}
    if built and gpu:
        ways[COLLIDE_ONLY] = partial(palabos_collide_only_period, device=device, path=palabos)
        ways[PAPER_WAY] = partial(palabos_hybrid_period, device=device, path=palabos)
    if gpu:
        ours[OUR_BUS] = partial(hybrid_period, device=device)
        ours[RESIDENT] = partial(resident_period, device=device, strategy="swap types")
        ours["links, resident"] = partial(resident_period, device=device)
    return ways | ours


def cavity_problem(nodes: int) -> Problem:
    """The cubic cavity that is timed; what it costs does not depend on its Reynolds number."""
    return CubicCavity(reynolds=float(nodes), nodes=nodes).problem


def require_timed(nodes: int, sizes) -> None:
    """Raise InputError if what is to be shown by parts is none of the sizes that are timed, or were."""
    timed = ", ".join(map(str, sizes))
    require(nodes in sizes, f"bars_nodes = {nodes}: must be one of the sizes that are timed, {timed}")


def time_parts(period: Period, repeats: int = 5) -> np.ndarray:
    """Seconds of each part, median of `repeats` periods after one that does not count; a LONG one runs once, cold."""
    seconds = []
    with exclusive_timing():
        for _ in range(1 + repeats):
            seconds.append([host_clock(part.run, period.device) for part in period.parts])
            if sum(seconds[-1]) > LONG:
                return np.array(seconds[-1])
    return np.median(seconds[1:], axis=0)


def iteration_parts(sizes, ways: dict, record=None, only=None) -> pd.DataFrame:
    """Seconds of each part of one iteration of the cubic cavity in double precision, one row a part.

    Columns way, nodes, part, channel, bytes, seconds (of the run whose iteration is the median), runs (the seconds of
    each, allocated anew; a way that no claim compares has one). Every way is checked against the whole time step first.
    A size that does not fit into memory is left out of the way that it does not fit; `only` are the sizes of the ways
    that claims compare.
    """
    small, rows = CubicCavity(reynolds=10, nodes=10).problem, []
    for name, build in ways.items():
        checked, compared = check_period(build, small), name in COMPARED
        for nodes in sizes if only is None or not compared else only:
            try:
                frame, device = _one_way(name, nodes, build, RUNS if compared else 1)
            except MemoryLimitError as error:
                print(f"{name}, {nodes}^3: {error}")
                continue
            rows.append(frame)
            _keep(record, f"{name}, {nodes}^3", frame, device, checked)
    if not rows:
        raise InputError(f"sizes {list(sizes)}: none was timed; give sizes that fit into memory, such as [34, 66]")
    return pd.concat(rows, ignore_index=True)


def _keep(record, case: str, frame: pd.DataFrame, device, checked: str) -> None:
    nodes, each, total = int(frame["nodes"].iloc[0]), _sum_of_runs(frame["runs"]), float(frame["seconds"].sum())
    timing = SimpleNamespace(seconds=total, spread=np.ptp(each) / total if len(each) > 1 else None)
    about = {"mlups": nodes**3 / total / 1e6, "size": f"{nodes} x {nodes} x {nodes}", "precision": "double"}
    speeds.record_launches(record, case, device, timing, runs=each, includes=INCLUDES, check=checked, **about)


def _one_way(name: str, nodes: int, build, runs: int) -> tuple:
    """(parts of one iteration, device); the arrays of a run are gone before the next is allocated."""
    each = []
    for _ in range(runs):
        # parts and arrays hold each other: without a search the last ones would still be there
        gc.collect()
        period = build(cavity_problem(nodes))
        about = [(part.name, part.channel, part.bytes / period.every) for part in period.parts]
        each.append(time_parts(period) / period.every)
        device = period.device
        del period
    frame = pd.DataFrame(about, columns=["part", "channel", "bytes"]).assign(runs=list(np.transpose(each).tolist()))
    frame = frame.groupby(["part", "channel"], sort=False, as_index=False).agg({"runs": _sum_of_runs, "bytes": "sum"})
    # medians of the parts would be of several runs, and their sum of none
    middle = np.argsort(_sum_of_runs(frame["runs"]))[(runs - 1) // 2]
    frame.insert(2, "seconds", [values[middle] for values in frame["runs"]])
    frame.insert(0, "nodes", nodes)
    frame.insert(0, "way", name)
    return frame, device


def _sum_of_runs(parts: pd.Series) -> list[float]:
    """The seconds of several parts together, run by run."""
    return np.sum(list(parts), axis=0).tolist()


def iterations(parts: pd.DataFrame) -> pd.DataFrame:
    """One row a way and size: seconds of the median run, those of each run, MLUPS, speedups over SERIAL and PALABOS.

    `spread` is the longest run less the shortest over the median; not a number where there is one run.
    """
    table = parts.groupby(["way", "nodes"], sort=False, as_index=False).agg({"seconds": "sum", "runs": _sum_of_runs})
    table["mlups"] = table["nodes"] ** 3 / table["seconds"] / 1e6
    for base in (SERIAL, PALABOS):
        seconds = table[table["way"] == base].set_index("nodes")["seconds"]
        table[f"over {base}"] = table["nodes"].map(seconds) / table["seconds"]
    table["spread"] = [np.ptp(each) if len(each) > 1 else np.nan for each in table["runs"]] / table["seconds"]
    return table


def seconds_of(parts: pd.DataFrame, way: str, nodes: int, names=None) -> float:
    """Seconds of an iteration, or of those of its parts that are named."""
    rows = parts[(parts["way"] == way) & (parts["nodes"] == nodes)]
    return float((rows if names is None else rows[rows["part"].isin(names)])["seconds"].sum())


def headline(table: pd.DataFrame, nodes: int, stated) -> str:
    """What a GPU gains on so many nodes a side, else the rate of a core: `iterations` and `claims.paper`."""
    here, there = table[table["nodes"] == nodes].set_index("way"), stated.speedups[PAPER_WAY]
    side = min(there)
    if OUR_BUS in here.index:
        bus, resident = here.loc[[OUR_BUS, RESIDENT], f"over {SERIAL}"]
        ours = f"{bus:.1f} times one core if populations cross the bus, {resident:.0f} times if not"
        paper = f"the paper's hybrid, {side}^3 nodes: {there[side]:g} times"
        return f"Streaming on a GPU, {nodes}^3 nodes: {ours}; {paper}"
    ours = f"Streaming by swaps on one core makes {here['mlups'][SERIAL]:.1f} MLUPS on {nodes}^3 nodes"
    return f"{ours}; the paper's serial program makes {side**3 / stated.seconds[PALABOS] / 1e6:.1f} on {side}^3"


def strategy_cases(nodes: int, device, **options) -> list[tuple]:
    """Streaming strategies on a resident cubic cavity, in double and single precision; on a CPU three, in double.

    As `repro.papers.speed.speed_table` takes them: (case, problem, device, options).
    """
    names, precisions = ["swap types", "swap links", "pull"], ["double"]
    if device.name == "cuda":
        options = options | {"runs": RUNS}
        names = ["swap types", "swap rays", "swap links", "split", "pull", "esoteric pull"]
        precisions = ["double", "single"]
    problem, cases = cavity_problem(nodes), []
    for name, precision in product(names, precisions):
        cases.append((f"{name}, {precision}", problem, device, {"strategy": name, "precision": precision} | options))
    return cases
