"""Speed of uncoalesced access, and of a kernel's constants in different memory spaces (section 4.5)."""

import numpy as np
import pandas as pd

from repro.dpd.benchmark import INCLUDES_FORCES, check_forces, reference_forces, size_of
from repro.dpd.simulation import Simulation
from repro.dpd.system import System
from repro.errors import CheckError, InputError
from repro.papers.dpd.repeated import of_runs
from repro.parallel import Kernel, Speed, inline, require_memory, time_launches

from . import constants

#: bytes of the smallest memory transaction: a sector on a GPU, a cache line on a CPU
SECTOR = {"cuda": 32}
LINE = 64

ITEM = np.dtype(np.float32).itemsize

#: where the constants lie in the two kernels that a claim compares
_COMPARED = ("global memory", "read-only path")

#: odd multipliers of a hash that permutes the indices, of 31 bits
_FIRST, _SECOND = 2147483647, 1540483477

_ONE = np.float32(1)


@inline
def strided(x, n, source, target, bits, shift):
    """Item t takes number k(t), its bits rotated: neighbouring threads access numbers 2^shift apart, each once."""
    mask = (1 << bits) - 1
    for t in range(x, x + n):
        k = ((t << shift) & mask) | (t >> (bits - shift))
        target[k] = source[k] + _ONE


@inline
def scattered(x, n, source, target, bits, half):
    """Item t takes a number at random: every operation here is invertible, so each number is taken once."""
    mask = (1 << bits) - 1
    for t in range(x, x + n):
        k = (t * _FIRST) & mask
        k = k ^ (k >> half)
        k = (k * _SECOND) & mask
        k = k ^ (k >> half)
        target[k] = source[k] + _ONE


def sector(device) -> int:
    """Bytes of the device's smallest memory transaction."""
    return SECTOR.get(device.name, LINE)


def traffic_model(stride: int, device) -> float:
    """Bytes moved over bytes requested, for neighbouring threads `stride` numbers apart and no cache hits."""
    return min(stride, sector(device) // ITEM)


def walks(device, bits: int, strides) -> tuple:
    """Launches over arrays of 2^bits numbers, by stride; stride 0 is at random. Each adds one to every number.

    Returns ({stride: launch}, source array, target array).
    """
    if not 4 <= bits <= 30:
        raise InputError(f"bits = {bits}: arrays of 2^4 to 2^30 numbers")
    for stride in strides:
        if stride < 0 or stride & (stride - 1) or stride >= 1 << bits:
            raise InputError(f"stride {stride}: 0 (at random), or a power of two below 2^{bits}")
    count = 1 << bits
    require_memory(device, 2 * ITEM * count, f"two arrays of 2^{bits} numbers", "use fewer bits")
    source = device.to_device((np.arange(count, dtype=np.int32) % 1024).astype(np.float32))
    target = device.zeros(count, np.float32)
    in_strides, at_random = device.compile(Kernel(strided)), device.compile(Kernel(scattered))
    launches = {}
    for stride in strides:
        if stride:
            launches[stride] = in_strides((count,), source, target, bits, stride.bit_length() - 1)
        else:
            launches[stride] = at_random((count,), source, target, bits, bits // 2)
    return launches, source, target


def check_walk(launch, source, target) -> str:
    """Run a walk on a cleared target; raises CheckError unless every number was taken."""
    target[:] = 0
    launch()
    missed = int((target != source + _ONE).sum())
    if missed:
        raise CheckError(f"{missed} of {len(target)} numbers were not taken")
    return "each number taken once"


def strides_table(device, bits_of_arrays, strides, record=None, *, seconds=0.05) -> pd.DataFrame:
    """Time the same addition on the same arrays, neighbouring threads 1, 2, 4, ... numbers apart, and at random (0).

    Columns bits, MiB (both arrays), stride, seconds, GB/s (of numbers requested), ratio (time over stride 1) and model
    (bytes moved over bytes requested). `strides` must begin with 1.
    """
    if not strides or strides[0] != 1:
        raise InputError(f"strides {list(strides)}: begin with 1, to which the others are compared")
    rows = []
    for bits in bits_of_arrays:
        bound, source, target = walks(device, bits, strides)
        first = None
        for stride, launch in bound.items():
            check = check_walk(launch, source, target)
            timing = time_launches([launch], device, seconds)
            each, spread = timing.seconds, timing.spread
            first = first or each
            moved = 2 * ITEM << bits
            row = {"bits": bits, "MiB": moved / 2**20, "stride": stride, "seconds": each, "spread": spread}
            row |= {"GB/s": moved / each / 1e9, "ratio": each / first}
            rows.append(row | {"model": traffic_model(stride or 1 << bits, device)})
            if record is not None:
                where = f"stride {stride}" if stride else "at random"
                record.timing(
                    f"add one, {where}, 2^{bits} numbers",
                    seconds=each,
                    spread=spread,
                    device=device.name,
                    hardware=device.description,
                    precision="single",
                    size=f"2^{bits}",
                    includes="one kernel that reads and writes each number once, replayed as a graph on a GPU",
                    check=check,
                )
    return pd.DataFrame(rows)


def constants_table(system: System, device, record=None, *, seconds=0.05, runs=1) -> pd.DataFrame:
    """Time the force kernel with its constants in every memory space of the device, for both stencils, each checked.

    Columns stencil, constants, seconds (the force kernel alone, median over independent runs), runs (the seconds of
    each), spread and "against global memory": the gain over plain global memory, above one where the memory space is
    faster. Only what `read_only_gain` compares is run more than once.
    """
    expected, rows = reference_forces(system), []
    for stencil in constants.STENCILS:
        for place in constants.places_on(device):
            times = runs if stencil == "half" and place in _COMPARED else 1
            speed = _kernel_speed(system, device, stencil, place, expected, seconds, times)
            rows.append({key: speed.row[key] for key in ("stencil", "constants", "seconds", "runs", "spread")})
            if record is not None:
                record.timing(**speed.row, includes=f"the force kernel alone of: {INCLUDES_FORCES}")
    table = pd.DataFrame(rows)
    plain = table[table["constants"] == "global memory"].set_index("stencil")["seconds"]
    return table.assign(**{"against global memory": table["stencil"].map(plain) / table["seconds"]})


def _kernel_speed(system: System, device, stencil: str, place: str, expected, seconds: float, runs: int) -> Speed:
    """Time of the force kernel with its constants in `place`, in runs with arrays of their own."""
    timings = []
    for _ in range(runs):
        simulation = Simulation(system, device, strategy="particle")
        forces = constants.build(simulation.setup, place, stencil)
        check = check_forces(simulation, expected, forces)
        timings.append(time_launches([forces.parts["forces"]], device, seconds))
    return Speed.of(
        f"force kernel, {stencil} stencil, constants: {place}",
        device,
        timings,
        strategy=simulation.strategy,
        precision=simulation.precision,
        size=size_of(system),
        check=check,
        work={},
        choices={"stencil": stencil, "constants": place},
    )


def largest_array(walks: pd.DataFrame) -> pd.DataFrame:
    """The rows of `strides_table` for the last array, the largest, by stride."""
    return walks[walks["bits"] == walks["bits"].iloc[-1]].set_index("stride")


def worst_stride(large: pd.DataFrame) -> int:
    """The slowest stride of `largest_array`; access at random (0) does not count."""
    return int(large["ratio"].drop(0, errors="ignore").idxmax())


def stride_arrays(walks: pd.DataFrame) -> dict[str, pd.Series]:
    """The arrays of the figure of strides: stride, ratio and model for each size of the arrays."""
    columns = ("stride", "ratio", "model")
    return {f"{column}, 2^{bits}": rows[column] for bits, rows in walks.groupby("bits") for column in columns}


def gains(constants_times: pd.DataFrame) -> pd.Series:
    """The gains over global memory of a `constants_table`, by stencil and place."""
    return constants_times.set_index(["stencil", "constants"])["against global memory"]


def read_only_gain(constants_times: pd.DataFrame) -> dict:
    """The gain of the read-only path over global memory, with the half stencil of the paper's kernel, see `of_runs`."""
    runs = constants_times.set_index(["stencil", "constants"])["runs"].loc["half"]
    return of_runs(plain / cached for plain, cached in zip(*(runs[place] for place in _COMPARED), strict=True))


def in_microseconds(table: pd.DataFrame) -> pd.DataFrame:
    """A table with a column of seconds for display: microseconds instead, as the last column."""
    return table.assign(microseconds=1e6 * table["seconds"]).drop(columns="seconds")
