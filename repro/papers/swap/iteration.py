"""Where an iteration's time goes, part by part, measured and predicted (swap paper, table 1 and figures 8 to 10)."""

import gc
import inspect
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd

from repro.errors import InputError, MemoryLimitError
from repro.exclusive_timing import exclusive_timing
from repro.lbm import benchmark
from repro.lbm.cases import CubicCavity
from repro.lbm.lattice import D3Q19
from repro.lbm.model import Problem
from repro.lbm.strategies import ALL
from repro.lbm.strategies.swap import rule
from repro.papers import speed as speeds
from repro.parallel import host_clock, select
from repro.parallel.timeloop import PRECISIONS
from repro.source_code import code_of

from .hybrid import Period, Rates, check_period, collide_only_period, hybrid_period, resident_period, serial_period

#: seconds after which a period is not repeated
LONG = 1.0

#: lines that say nothing of a strategy: they keep what a factory has made
_CACHING = ("@cache", "from functools import cache")

INCLUDES = "every part of an iteration by the host's clock, its launch and waiting for it included"


#: our serial sweep, the paper's way, and what came between
SERIAL, PAPER_WAY, COLLIDE_ONLY = "serial", "types, host every step", "collision on the GPU"

#: the paper's way without its bus
TYPES_RESIDENT = "types, resident"

#: the ways that claims compare
COMPARED = (SERIAL, COLLIDE_ONLY, PAPER_WAY)

#: where a part runs, by its channel
PLACES = {"core": "host", "GPU memory": "GPU kernels", "to the GPU": "bus", "to the host": "bus"}


def ways_on(device, every: int) -> dict:
    """The ways to run an iteration, by name: functions from a problem to a Period."""
    return {
        SERIAL: serial_period,
        COLLIDE_ONLY: partial(collide_only_period, device=device),
        PAPER_WAY: partial(hybrid_period, device=device),
        f"types, host every {every} steps": partial(hybrid_period, device=device, every=every),
        TYPES_RESIDENT: partial(resident_period, device=device, strategy="swap types"),
        "links, resident": partial(resident_period, device=device),
    }


def memory_table(sizes, device) -> pd.DataFrame:
    """GiB that the populations of the cubic cavity take in double precision, and what fits: before anything is timed.

    Columns nodes, "one array" (links, or the host's copy), "two arrays" (types), and whether two arrays fit into the
    free memory of device and host.
    """
    free = {"device": device.free_memory(), "host": select("serial").free_memory()}
    rows = []
    for nodes in sizes:
        array = D3Q19.q * 8 * nodes**3
        fits = (free["device"] > 2 * array, free["host"] > 2 * array)
        rows.append((nodes, array / 2**30, 2 * array / 2**30, *("fits" if fit else "too large" for fit in fits)))
    return pd.DataFrame(rows, columns=["nodes", "one array", "two arrays", "device", "host"])


def cavity_problem(nodes: int) -> Problem:
    """The cubic cavity that is timed; what it costs does not depend on its Reynolds number."""
    return CubicCavity(reynolds=float(nodes), nodes=nodes).problem


def rates_table(rates: Rates, gpu: bool) -> pd.DataFrame:
    """What the model of an iteration takes as given; columns what, unit, value. Without a `gpu` that of the core."""
    names = {"core": "memory, one core"}
    rows = [(names.get(name, name), "GB/s", value / 1e9) for name, value in rates.bytes_a_second.items()]
    rows += [(f"least time of a part, {name}", "us", value * 1e6) for name, value in rates.least.items()]
    rows += [(f"one core, {name}", "million nodes/s", value / 1e6) for name, value in rates.core.items()]
    rows = rows if gpu else [row for row in rows if "one core" in row[0]]
    return pd.DataFrame(rows, columns=["what", "unit", "value"])


def require_timed(nodes: int, sizes) -> None:
    """Raise InputError if what is to be shown by parts is none of the sizes that are timed, or were."""
    if nodes not in sizes:
        timed = ", ".join(map(str, sizes))
        raise InputError(f"bars_nodes = {nodes}: must be one of the sizes that are timed, {timed}")


def time_parts(period: Period, repeats: int = 5) -> np.ndarray:
    """Seconds of each part, median of `repeats` periods after one that does not count; a LONG one runs once, cold."""
    seconds = []
    with exclusive_timing():
        for _ in range(1 + repeats):
            seconds.append([host_clock(part.run, period.device) for part in period.parts])
            if sum(seconds[-1]) > LONG:
                return np.array(seconds[-1])
    return np.median(seconds[1:], axis=0)


def iteration_parts(sizes, ways: dict, rates: Rates, record=None, skip=(), runs: int = 1) -> pd.DataFrame:
    """Seconds of each part of one iteration of the cubic cavity in double precision, measured and predicted.

    Columns way, nodes, part, channel, seconds (of the run whose iteration is the median), runs (the seconds of each,
    allocated anew; a way that no claim compares has one), predicted. Every way is checked against plain streaming
    first. A size that does not fit into memory is left out of the way that it does not fit; `skip` are pairs (way,
    nodes).
    """
    small, rows = CubicCavity(reynolds=10, nodes=10).problem, []
    for name, build in ways.items():
        check = check_period(build, small)
        for nodes in sizes:
            if (name, nodes) in skip:
                continue
            try:
                frame, device = _one_way(name, nodes, build, rates, runs if name in COMPARED else 1)
            except MemoryLimitError as error:
                print(f"{name}, {nodes}^3: {error}")
                continue
            rows.append(frame)
            _keep(record, f"{name}, {nodes}^3", frame, device, check)
    if not rows:
        raise InputError(f"sizes {list(sizes)}: none was timed; give sizes that fit into memory, such as [34, 66]")
    return pd.concat(rows, ignore_index=True)


def _keep(record, case: str, frame: pd.DataFrame, device, check: str) -> None:
    nodes, each, total = int(frame["nodes"].iloc[0]), _sum_of_runs(frame["runs"]), float(frame["seconds"].sum())
    timing = SimpleNamespace(seconds=total, spread=np.ptp(each) / total if len(each) > 1 else None)
    about = {"mlups": nodes**3 / total / 1e6, "size": f"{nodes} x {nodes} x {nodes}", "precision": "double"}
    speeds.record_launches(record, case, device, timing, runs=each, includes=INCLUDES, check=check, **about)


def _one_way(name: str, nodes: int, build, rates: Rates, runs: int) -> tuple:
    """(parts of one iteration, device); the arrays of a run are gone before the next is allocated."""
    each, about, device = [], None, None
    for _ in range(runs):
        # parts and arrays hold each other: without a search the last ones would still be there
        gc.collect()
        period = build(cavity_problem(nodes))
        about, device = _about(period, rates, nodes), period.device
        each.append(time_parts(period) / period.every)
        del period
    frame = about.assign(runs=list(np.transpose(each).tolist()))
    frame = frame.groupby(["part", "channel"], sort=False, as_index=False).agg(
        {"runs": _sum_of_runs, "predicted": "sum"}
    )
    # medians of the parts would be of several runs, and their sum of none
    middle = np.argsort(_sum_of_runs(frame["runs"]))[(runs - 1) // 2]
    frame.insert(2, "seconds", [values[middle] for values in frame["runs"]])
    frame.insert(0, "nodes", nodes)
    frame.insert(0, "way", name)
    return frame, device


def _about(period: Period, rates: Rates, nodes: int) -> pd.DataFrame:
    rows = [(part.name, part.channel, rates.seconds(part, nodes**3) / period.every) for part in period.parts]
    return pd.DataFrame(rows, columns=["part", "channel", "predicted"])


def _sum_of_runs(parts: pd.Series) -> list[float]:
    """The seconds of several parts together, run by run."""
    return np.sum(list(parts), axis=0).tolist()


def iterations(parts: pd.DataFrame) -> pd.DataFrame:
    """One row a way and size: seconds, those of each run, predicted, their ratio, MLUPS, speedup over SERIAL, spread.

    `seconds` are those of the median run, and `spread` is the longest run less the shortest over it; not a number
    where there is one run.
    """
    groups = parts.groupby(["way", "nodes"], sort=False, as_index=False)
    table = groups.agg({"seconds": "sum", "runs": _sum_of_runs, "predicted": "sum"})
    table["predicted/measured"] = table["predicted"] / table["seconds"]
    table["mlups"] = table["nodes"] ** 3 / table["seconds"] / 1e6
    serial = table[table["way"] == SERIAL].set_index("nodes")["seconds"]
    table["speedup"] = table["nodes"].map(serial) / table["seconds"]
    table["spread"] = [np.ptp(each) if len(each) > 1 else np.nan for each in table["runs"]] / table["seconds"]
    return table


def worst_factor(table: pd.DataFrame, nodes: int) -> dict:
    """The factor, 1 or more, by which measured and predicted iterations on one grid lie apart; holds below two."""
    ratio = table.loc[table["nodes"] == nodes, "predicted/measured"]
    off = float(np.maximum(ratio, 1 / ratio).max())
    return {"nodes": nodes, "off": off, "holds": off < 2}


def seconds_of(parts: pd.DataFrame, way: str, nodes: int, names=None) -> float:
    """Seconds of an iteration, or of those of its parts that are named."""
    rows = parts[(parts["way"] == way) & (parts["nodes"] == nodes)]
    return float((rows if names is None else rows[rows["part"].isin(names)])["seconds"].sum())


def shares(parts: pd.DataFrame, nodes: int) -> pd.DataFrame:
    """Where the time of an iteration goes, one row a way: ms, and per cent on the bus, in GPU kernels, on the host.

    The last column is what figure 8 of the paper is about: collision and streaming, the copies made for them included.
    """
    rows = parts[parts["nodes"] == nodes].assign(place=parts["channel"].map(PLACES))
    table = rows.pivot_table(index="way", columns="place", values="seconds", aggfunc="sum", sort=False, fill_value=0.0)
    table = table.reindex(columns=list(dict.fromkeys(PLACES.values())), fill_value=0.0)
    total = table.sum(axis=1)
    table = (100 * table.div(total, axis=0)).add_suffix(" (%)")
    table.insert(0, "ms", 1e3 * total)
    moved = rows[rows["part"] != "boundary"].groupby("way")["seconds"].sum()
    table["collision, streaming and bus (%)"] = 100 * moved / total
    return table.rename_axis(columns=None).reset_index()


def strategy_cases(nodes: int, device, **options) -> list[tuple]:
    """Streaming strategies on a resident cubic cavity, in double and single precision; on a CPU three, in double.

    As `speeds.speed_table` takes them: (case, problem, device, options).
    """
    names, precisions = ["swap types", "swap links", "pull"], ["double"]
    if device.name == "cuda":
        names = ["swap types", "swap rays", "swap links", "split", "pull", "esoteric pull"]
        precisions = ["double", "single"]
    problem, pairs = cavity_problem(nodes), [(name, precision) for name in names for precision in precisions]
    return [
        (f"{name}, {precision}", problem, device, {"strategy": name, "precision": precision} | options)
        for name, precision in pairs
    ]


def strategy_table(cases, record=None) -> pd.DataFrame:
    """A speed a row, with the bytes that the strategy keeps for a node and its lines of code."""
    table = speeds.speed_table(cases, record, measured=benchmark.measure_speed, includes=benchmark.INCLUDES)
    table["bytes a node"] = [bytes_a_node(row.strategy, row.precision) for row in table.itertuples()]
    table["lines"] = table["strategy"].map(lines_of_code)
    return table


def bytes_a_node(strategy: str, precision: str) -> int:
    """Bytes that a strategy keeps for each node."""
    return ALL[strategy].COST.bytes_per_node(np.dtype(PRECISIONS[precision]).itemsize)


def lines_of_code(strategy: str) -> int:
    """Lines of a strategy's module and of the kernels that it builds on, comments and docstrings left out."""
    module = ALL[strategy]
    kernels = {name for name in vars(module) if name.endswith("_kernel") and name != "_update_kernel"}
    sources = [inspect.getsource(getattr(module, name)) for name in sorted(kernels)]
    if strategy == "swap types":
        sources += [inspect.getsource(rule._make_kind), inspect.getsource(rule._make_faces_of_node)]
    lines = [line.strip() for text in [inspect.getsource(module), *sources] for line in code_of(text).splitlines()]
    return sum(line not in _CACHING for line in lines)
