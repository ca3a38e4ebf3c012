"""Chapter 3: the matrix sum of listing 1, its order in memory, its blocks of threads, and how many warps it takes."""

from itertools import product

import numpy as np
import pandas as pd

from repro.errors import CheckError, InputError
from repro.papers import speed as speeds
from repro.parallel import Kernel, copy_bandwidth, device_function, require_memory, time_launches

#: threads that go together, and the bytes that two loads of a warp have under way
WARP, LOADED = 32, 2 * 32 * 4

#: bytes that an entry of the sum moves: two are read and one is written
MOVED = 3 * np.dtype(np.float32).itemsize

#: threads beyond a multiple of 32: they add a warp of which they fill a quarter
REST = 8

#: blocks and warps a multiprocessor that the rules of section 3.4 ask for, and most threads of a block
RULE, MOST_THREADS = (2, 6), 1024

_INCLUDES = "one kernel that adds two matrices, replayed as a graph on a GPU"


@device_function
def add_along_rows(x, n, y, a, b, c, side):
    """C = A + B as in listing 1: thread (x, y) adds entry [y][x], and neighbouring threads neighbouring numbers."""
    for i in range(x, x + n):
        c[y * side + i] = a[y * side + i] + b[y * side + i]


@device_function
def add_along_columns(x, n, y, a, b, c, side):
    """The same sum with x and y exchanged: thread (x, y) adds entry [x][y], neighbouring threads are a row apart."""
    for i in range(x, x + n):
        c[i * side + y] = a[i * side + y] + b[i * side + y]


@device_function
def add_in_turns(x, n, a, b, c, count, threads):
    """The same sum by a given number of threads: thread x adds entries x, x + threads, x + 2 threads, ..."""
    for first in range(x, x + n):
        for i in range(first, count, threads):
            c[i] = a[i] + b[i]


def matrices(device, side: int) -> tuple:
    """A, B and C of `side` times `side` numbers on the device, C zero."""
    require_memory(device, MOVED * side**2, f"three matrices of {side} x {side}", "use a smaller side")
    numbers = np.arange(side**2, dtype=np.int64)
    a, b = ((numbers * step % 1021).astype(np.float32) for step in (1, 7))
    return device.to_device(a), device.to_device(b), device.zeros(side**2, np.float32)


def check_sum(launch, a, b, c) -> str:
    """Launch on a cleared C; raises CheckError unless every entry is the sum."""
    c[:] = 0
    launch()
    wrong = int((c != a + b).sum())
    if wrong:
        raise CheckError(f"{wrong} of {len(c)} entries are not the sum")
    return "every entry is the sum"


def timed(name: str, launch, arrays, device, record, *, seconds: float, runs: int) -> dict:
    """A row of a table: seconds of one sum in each of the independent `runs`, the median, GB/s and share of a copy."""
    check, size = check_sum(launch, *arrays), len(arrays[0])
    timings = [time_launches([launch], device, seconds) for _ in range(runs)]
    middle = sorted(timings, key=lambda timing: timing.seconds)[runs // 2]
    about = {"size": f"{size} entries", "includes": _INCLUDES, "check": check}
    speeds.record_launches(record, name, device, middle, **about)
    rate = MOVED * size / middle.seconds
    row = {"seconds": middle.seconds, "runs": [timing.seconds for timing in timings], "GB/s": rate / 1e9}
    return row | {"of copy": rate / copy_bandwidth(device)}


def order_table(side: int, device, record=None, **options) -> pd.DataFrame:
    """Listing 1 with neighbouring threads on neighbouring numbers, and a row apart; `options` as of `timed`."""
    arrays, rows = matrices(device, side), []
    for order, body in {"coalesced": add_along_rows, "strided": add_along_columns}.items():
        launch = device.compile(Kernel(body, ndim=2, along_rows=True))((side, side), *arrays, side)
        rows.append({"order": order} | timed(f"matrix sum, {order}", launch, arrays, device, record, **options))
    return pd.DataFrame(rows)


def block_table(side: int, blocks, device, record=None, **options) -> pd.DataFrame:
    """Listing 1 in blocks of whole warps, multiples of 32, and of `REST` threads more, of which lanes stay idle."""
    if odd := [block for block in blocks if block % WARP or block + REST > MOST_THREADS]:
        raise InputError(f"block {odd[0]}: take multiples of {WARP} below {MOST_THREADS}")
    arrays, rows = matrices(device, side), []
    for block, (kind, more) in product(blocks, {"whole warps": 0, "others": REST}.items()):
        threads = block + more
        kernel = Kernel(add_along_rows, ndim=2, block=threads, along_rows=True)
        launch = device.compile(kernel)((side, side), *arrays, side)
        row = {"block": block, "kind": kind, "threads": threads}
        row["lanes busy (%)"] = 100 * threads / (-(-threads // WARP) * WARP)
        rows.append(row | timed(f"matrix sum, {threads} threads", launch, arrays, device, record, **options))
    return pd.DataFrame(rows)


def multiprocessors(device) -> int:
    """Number of multiprocessors of the GPU at hand."""
    runtime = device.xp.cuda.runtime
    return runtime.getDeviceProperties(device.xp.cuda.Device().id)["multiProcessorCount"]


def resident_table(side: int, warps, device, record=None, **options) -> pd.DataFrame:
    """The sum by as many threads as one or two blocks a multiprocessor have, with `warps` a multiprocessor together.

    "as one warp" is the share of a copy if each warp brought what one does.
    """
    arrays, count, rows = matrices(device, side), multiprocessors(device), []
    for blocks, each in product((1, RULE[0]), warps):
        block = WARP * each // blocks
        if each % blocks or block > MOST_THREADS:
            continue
        threads = count * blocks * block
        launch = device.compile(Kernel(add_in_turns, block=block))((threads,), *arrays, side**2, threads)
        name = f"matrix sum, {blocks} blocks and {each} warps a multiprocessor"
        rows.append({"blocks": blocks, "warps": each} | timed(name, launch, arrays, device, record, **options))
    table = pd.DataFrame(rows)
    fewest = table.loc[table["warps"].idxmin()]
    return table.assign(**{"as one warp": (table["warps"] * fewest["of copy"] / fewest["warps"]).clip(upper=1)})


def claims_of(orders: pd.DataFrame, blocks: pd.DataFrame, resident: pd.DataFrame) -> dict:
    """{claim: value} of sections 3.3 and 3.4, from the three tables."""
    return {
        "porous-154": speeds.orders(blocks, "block", "kind", "GB/s"),
        "porous-155": share_of_rule(resident),
        "porous-156": speeds.order(orders, "order", "GB/s"),
    }


def headline(orders: pd.DataFrame, device) -> str:
    """How much longer the strided sum of `order_table` takes, in a line."""
    seconds = orders.set_index("order")["seconds"]
    ratio = f"{seconds['strided'] / seconds['coalesced']:.1f} times as long with strided as with coalesced access"
    return f"Adding two matrices takes {ratio} ({device.description}); the paper says longer, without a number"


def share_of_rule(resident: pd.DataFrame) -> float:
    """Bandwidth with the blocks and warps of section 3.4 over the largest of `resident_table`."""
    rates = resident.set_index(["blocks", "warps"])["GB/s"]
    return float(rates[RULE] / rates.max())


def rule_numbers(resident: pd.DataFrame) -> dict:
    """Share of the bandwidth with six warps, too few if below 0.9, and the fewest that reach that; for `Record.say`."""
    share = share_of_rule(resident)
    enough = resident.loc[resident["GB/s"] >= 0.9 * resident["GB/s"].max(), "warps"].min()
    return {"share": 100 * share, "enough": int(enough), "holds": share < 0.9}


def lost_in_lanes(blocks: pd.DataFrame) -> dict:
    """Least speed of a block beside whole warps, and busy lanes, in %; holds if no more is lost than lanes are idle."""
    rates = blocks.pivot_table(index="block", columns="kind", values="GB/s")
    least = 100 * float((rates["others"] / rates["whole warps"]).min())
    lanes = float(blocks["lanes busy (%)"].min())
    return {"least": least, "lanes": lanes, "holds": lanes - 2 <= least < 100}


def warps_needed(bandwidth: float, latency: float, count: int) -> float:
    """Warps a multiprocessor whose loads of two matrices fill a memory: bandwidth times latency is what is under way.

    Bandwidth in bytes a second, latency in seconds, `count` multiprocessors.
    """
    return bandwidth * latency / count / LOADED


def printed_peaks(stated: dict[str, float]) -> pd.DataFrame:
    """What section 3.2 multiplies and what it prints; `stated` are the thesis' numbers by claim."""
    pick = {name: stated[f"porous-{number:03d}"] for name, number in _SETUP.items()}
    gigahertz, data_rate = pick["clock"] / 1e3, pick["memory clock"] / 1e3
    rows = [
        ("single precision (GFLOPS)", pick["processors"] * gigahertz * 3, pick["single"]),
        ("double precision (GFLOPS)", pick["multiprocessors"] * gigahertz * 2, pick["double"]),
        ("memory at the printed clock (GB/s)", pick["bus"] / 8 * data_rate, pick["bandwidth"]),
        ("memory at the clock of a C1060 (GB/s)", pick["bus"] / 8 * C1060_DATA_RATE, np.nan),
    ]
    return pd.DataFrame(rows, columns=["peak", "computed", "thesis"])


#: transfers a second of each pin of a Tesla C1060's memory, in units of 10^9: 800 MHz, twice a clock
C1060_DATA_RATE = 1.6

#: the thesis' numbers of the card by claim
_SETUP = {"multiprocessors": 1, "processors": 3, "clock": 4, "single": 5, "double": 6}
_SETUP |= {"bus": 9, "memory clock": 10, "bandwidth": 11}
SETUP_CLAIMS = tuple(f"porous-{number:03d}" for number in _SETUP.values())
#: the cavity at its fastest
CAVITY = "porous-032"
JUDGED = ("porous-154", "porous-155", "porous-156")


def used_bandwidth(mlups: float, populations: int, peaks: pd.DataFrame) -> dict:
    """GB/s of a speed with each population read and written once, and its share of both peaks; for `Record.say`."""
    rate = mlups * 1e6 * 2 * populations * 4 / 1e9
    printed, card = 100 * rate / peaks["computed"].tail(2)
    return {"rate": rate, "printed": printed, "card": card, "holds": card < 100}
