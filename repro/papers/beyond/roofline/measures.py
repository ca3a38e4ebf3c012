"""Kernels over their floors, steps over sizes, and other codes beside."""

from itertools import product
from math import exp, log, nan
from pathlib import Path

import numpy as np
import pandas as pd

from repro.dpd.benchmark import INCLUDES as OF_DPD
from repro.lbm.benchmark import INCLUDES as OF_LATTICE
from repro.parallel import CpuDevice, Speed, copy_bandwidth
from repro.pic.benchmark import INCLUDES as OF_ELECTRONS
from repro.sph.benchmark import INCLUDES as OF_SPH

from .kernels import KERNELS, Kernel

#: what a floor is set by
MEMORY, ISSUE = "memory", "issue"

#: what the timer of each method includes
INCLUDES = {"lattice Boltzmann": OF_LATTICE, "DPD": OF_DPD, "SPH": OF_SPH, "electrons": OF_ELECTRONS}

#: schedulers of a multiprocessor, and threads for which one issues an instruction at a time
_SCHEDULERS, _LANES = 4, 32

#: ns in a second
NS = 1e9


def issue_rate(device) -> float | None:
    """Instructions of threads that a GPU can issue in a second with all lanes at work; None for other devices."""
    if device.name != "cuda" or device.simulated:
        return None
    about = device.xp.cuda.Device().attributes
    return about["MultiProcessorCount"] * _SCHEDULERS * _LANES * 1e3 * about["ClockRate"]


def items_of(speed: Speed) -> float:
    """Nodes, pores or particles that the timed step updates."""
    rates = speed.rates
    rate = rates["updates"] if "updates" in rates else 1e6 * rates.get("mflups", rates.get("mlups"))
    return rate * speed.seconds


def floor_of(kernel: Kernel, speed: Speed, copy: float, issue: float | None) -> dict:
    """What an item must take: its bytes at the bandwidth of a copy, or its instructions, whichever takes longer."""
    moved = speed.rates["bandwidth"] * speed.seconds / items_of(speed) if kernel.bytes is None else kernel.bytes
    floors = {MEMORY: moved / copy}
    if issue and kernel.instructions:
        floors[ISSUE] = kernel.instructions / issue
    bound = max(floors, key=floors.get)
    return {
        "bytes": moved,
        "instructions": kernel.instructions or nan,
        "bound": bound,
        "floor (ns)": NS * floors[bound],
    }


def kernel_table(names, items: float, device, record, *, seconds: float) -> pd.DataFrame:
    """Each kernel with about so many items on a device, or as many as a host sets up, beside its floor there."""
    copy, issue, rows = copy_bandwidth(device), issue_rate(device), []
    for kernel in map(KERNELS.get, names):
        speed = _timed(kernel, min(items, kernel.most), device, record, seconds)
        floor, each = floor_of(kernel, speed, copy, issue), NS * speed.seconds / items_of(speed)
        about = {"kernel": kernel.name, "items": round(items_of(speed)), **floor, "measured (ns)": each}
        rows.append(about | {"share (%)": 100 * floor["floor (ns)"] / each, "million/s": 1e3 / each})
    return pd.DataFrame(rows)


def _timed(kernel: Kernel, items: float, device, record, seconds: float) -> Speed:
    speed = kernel.measure(items, device, seconds=seconds)
    record.timing(**speed.row | {"case": kernel.name}, includes=INCLUDES[kernel.method])
    return speed


def with_peers(table: pd.DataFrame, data: Path) -> pd.DataFrame:
    """Of a `kernel_table`, rates beside the fastest other code at the size nearest to ours; NaN and "" without one.

    `data` is the project's folder data/. The last column is our rate over the other's, on whichever cards they ran.
    """
    peers = pd.read_csv(data / "reference" / "peers.csv", comment="#", dtype={"date": str}).fillna({"date": ""})
    columns = {"code": "peer", "rate": "peer, million/s", "items": "peer's items", "hardware": "on", "date": "date"}
    rows = []
    for ours in table.itertuples():
        others = peers[peers["kernel"] == ours.kernel]
        away = np.abs(np.log(others["items"].fillna(ours.items) / ours.items)).round(6)
        others = others[away == away.min()].nlargest(1, "rate")
        rows.append(others[list(columns)].iloc[0].to_dict() if len(others) else {})
    beside = pd.DataFrame(rows, columns=list(columns)).rename(columns=columns)
    joined = table[["kernel", "items", "million/s"]].join(beside).fillna({"peer": "", "on": "", "date": ""})
    return joined.assign(**{"ours / peer": joined["million/s"] / joined["peer, million/s"]})


def size_table(names, sizes: dict, record, *, seconds: float) -> pd.DataFrame:
    """Seconds of a step over the number of items; `sizes` are a device's numbers, by device.

    A kernel is left out where a host does not set up as many. Columns: kernel, device, hardware, items, seconds.
    """
    rows = []
    for name, (device, counts) in product(names, sizes.items()):
        for items in (count for count in counts if count <= KERNELS[name].most):
            speed = _timed(KERNELS[name], items, device, record, seconds)
            about = {"kernel": name, "device": device.name, "hardware": device.description}
            rows.append(about | {"items": round(items_of(speed)), "seconds": speed.seconds})
    return pd.DataFrame(rows)


def sizes_of(device, cores: CpuDevice, sizes, core_sizes) -> dict:
    """What `size_table` takes: all cores, and the GPU where `device` is one."""
    gpu = {device: sizes} if device.name == "cuda" else {}
    return {cores: core_sizes} | gpu


def crossing(gpu: pd.DataFrame, cores: pd.DataFrame) -> float:
    """Items from which a step takes less on the GPU than on all cores, by straight lines between logarithms.

    The smallest size of both where that is so from the start; NaN where the sizes that both have do not show it.
    """
    both = [table.sort_values("items")[["items", "seconds"]].to_numpy(float).T for table in (gpu, cores)]
    low, high = max(both[0][0][0], both[1][0][0]), min(both[0][0][-1], both[1][0][-1])
    if low > high:
        return nan
    fine = np.linspace(log(low), log(high), 2001)
    ours, theirs = (np.interp(fine, *np.log(values)) for values in both)
    slower = np.flatnonzero(ours >= theirs)
    if not len(slower):
        return exp(fine[0])
    return exp(fine[slower[-1] + 1]) if slower[-1] + 1 < len(fine) else nan


def crossings(table: pd.DataFrame) -> pd.DataFrame:
    """`crossing` of each kernel of a `size_table`, and how many times as fast the GPU is at the cores' largest size."""
    rows = []
    for name, times in table.groupby("kernel", sort=False):
        gpu, cores = (times[(times["device"] == "cuda") == on] for on in (True, False))
        if len(gpu) and len(cores):
            last = cores.loc[cores["items"].idxmax()]
            there = exp(np.interp(log(last["items"]), np.log(gpu["items"]), np.log(gpu["seconds"])))
            rows.append((name, crossing(gpu, cores), last["items"], last["seconds"] / there))
    return pd.DataFrame(rows, columns=["kernel", "GPU is faster from", "items", "times as fast"])
