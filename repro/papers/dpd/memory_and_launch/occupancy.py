"""Theoretical occupancy, from the registers and shared memory of a kernel and the hardware's limits (section 4.6)."""

from dataclasses import dataclass
from statistics import median

import pandas as pd

from repro.dpd.benchmark import check_forces, reference_forces, size_of
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import STRATEGIES
from repro.dpd.system import System
from repro.errors import InputError
from repro.papers.dpd.repeated import of_runs, quotients
from repro.parallel import Speed, measure_runs, time_launches

WARP = 32

#: registers are allocated to warps in units of this size, and warps in fours, since compute capability 3.0
_REGISTER_UNIT, _WARP_UNIT = 256, 4

#: most threads and most bytes of shared memory, fixed when the kernel is compiled, of one block
MOST_THREADS, MOST_STATIC_SHARED = 1024, 49152

_INCLUDES = "the force kernel alone, at fixed positions, replayed as a graph on a GPU"

#: strategies whose force kernels are launched
KERNELS = ("particle", "sorted cells")


@dataclass(frozen=True)
class Limits:
    """Resources of a multiprocessor, in the paper's order."""

    name: str
    warps: int
    threads: int
    blocks: int
    registers: int
    registers_a_thread: int
    #: bytes of shared memory, of which each block takes `reserved` for the system and the rest in units of `unit`
    shared: int
    reserved: int = 0
    unit: int = 256


#: compute capability 3.5, the paper's K20c, and 9.0, an H200
KEPLER = Limits("3.5", 64, 2048, 16, 65536, 255, 49152)
HOPPER = Limits("9.0", 64, 2048, 32, 65536, 255, 233472, reserved=1024, unit=128)


@dataclass(frozen=True)
class Occupancy:
    """Resident blocks of a multiprocessor, the share of its warps, and the resource that limits them."""

    blocks: int
    share: float
    stopped_by: str


def occupancy(limits: Limits, block: int, registers: int, shared: int = 0) -> Occupancy:
    """The theoretical occupancy for `block` threads and `shared` bytes per block, and `registers` per thread.

    Raises InputError for a block that does not fit into a multiprocessor.
    """
    if not 1 <= block <= MOST_THREADS:
        raise InputError(f"block = {block}: 1 to {MOST_THREADS} threads")
    if not 1 <= registers <= limits.registers_a_thread:
        raise InputError(f"registers = {registers}: 1 to {limits.registers_a_thread} a thread")
    warps = -(-block // WARP)
    warps_with_registers = limits.registers // _rounded(registers * WARP, _REGISTER_UNIT) // _WARP_UNIT * _WARP_UNIT
    room = {
        "warps": limits.warps // warps,
        "threads": limits.threads // (warps * WARP),
        "blocks": limits.blocks,
        "registers": warps_with_registers // warps,
    }
    taken = _rounded(shared + limits.reserved, limits.unit)
    if taken:
        room["shared memory"] = limits.shared // taken
    scarce = min(room, key=room.get)
    blocks = room[scarce]
    if blocks == 0:
        raise InputError(
            f"a block of {block} threads with {registers} registers each and {shared} bytes of shared memory "
            f"does not fit into a multiprocessor of compute capability {limits.name}: use a smaller block"
        )
    return Occupancy(blocks, blocks * warps / limits.warps, scarce)


def _rounded(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit


def limits_of(device) -> Limits:
    """The limits of the GPU at hand, as its driver states them."""
    runtime = device.xp.cuda.runtime
    properties = runtime.getDeviceProperties(device.xp.cuda.Device().id)
    threads = properties["maxThreadsPerMultiProcessor"]
    return Limits(
        f"{properties['major']}.{properties['minor']}",
        warps=threads // properties["warpSize"],
        threads=threads,
        blocks=properties["maxBlocksPerMultiProcessor"],
        registers=properties["regsPerMultiprocessor"],
        registers_a_thread=255,
        shared=properties["sharedMemPerMultiprocessor"],
        reserved=properties["reservedSharedMemPerBlock"],
        unit=128 if properties["major"] >= 8 else 256,
    )


def limits_table(all_limits) -> pd.DataFrame:
    """The limits side by side, as the paper lists them."""
    names = ("warps", "threads", "blocks", "registers", "registers_a_thread", "shared")
    table = {f"compute capability {each.name}": [getattr(each, name) for name in names] for each in all_limits}
    return pd.DataFrame({"a multiprocessor has at most": [name.replace("_", " ") for name in names]} | table)


def shared_bytes(strategy: str, block: int) -> int:
    """Bytes of shared memory per block of a strategy's force kernel."""
    return 4 * STRATEGIES[strategy].TRAITS.shared_words * block


def launches(strategy: str, blocks, registers, block: int) -> list[tuple]:
    """Launches to time, (threads per block, most registers): every valid block size, and every limit at one block size.

    A limit of None leaves it to the compiler, see `launch_table`. Raises InputError unless `block` is one of `blocks`,
    and fits whatever registers its threads take.
    """
    sizes = [size for size in blocks if shared_bytes(strategy, size) <= MOST_STATIC_SHARED]
    sure = [size for size in sizes if limit_needed(KEPLER, size) is None]
    if block not in sure:
        raise InputError(f"block = {block}: choose one of {', '.join(map(str, sure))}")
    return [(size, None) for size in sizes] + [(block, most) for most in registers]


def limit_needed(limits: Limits, block: int, registers: int | None = None) -> int | None:
    """The limit of registers a thread without which one block does not fit; None where it fits as compiled.

    `registers` are those of the kernel as compiled, by default the most that a thread can have.
    """
    threads, each = _rounded(-(-block // WARP), _WARP_UNIT) * WARP, _REGISTER_UNIT // WARP
    most = limits.registers // threads // each * each
    return None if (registers or limits.registers_a_thread) <= most else most


def launch_table(
    system: System, device, blocks, registers, block: int, record=None, *, seconds=0.05, runs=1
) -> pd.DataFrame:
    """Time the force kernels of KERNELS for each of their `launches`, on a GPU; each is checked.

    Columns strategy, block, limit (0: none), registers, local (bytes per thread spilled to local memory), shared,
    occupancy, "stopped by", seconds (median over independent runs), runs (the seconds of each), spread. A block that
    does not fit with the registers that a smaller one before it took gets the limit that makes it fit. Only launches
    with blocks of `block` threads, which `gains_by_limits` compares, are run more than once.
    """
    expected, limits, rows, compiled = reference_forces(system), limits_of(device), [], {}
    for strategy in KERNELS:
        for size, chosen in launches(strategy, blocks, registers, block):
            most = chosen or limit_needed(limits, size, compiled.get(strategy))
            options = {"expected": expected, "seconds": seconds, "runs": runs if size == block else 1}
            speed = _launch_speed(system, device, strategy, size, most, **options)
            took = {name: speed.choices[name] for name in ("registers", "local", "shared")}
            if not most:
                compiled[strategy] = took["registers"]
            resident = occupancy(limits, size, took["registers"], took["shared"])
            row = {"strategy": strategy, "block": size, "limit": most or 0} | took
            row |= {"occupancy": resident.share, "stopped by": resident.stopped_by}
            rows.append(row | {key: speed.row[key] for key in ("seconds", "runs", "spread")})
            if record is not None:
                record.timing(**speed.row, occupancy=resident.share, includes=_INCLUDES)
    return pd.DataFrame(rows)


def _launch_speed(system, device, strategy, block, most, **options) -> Speed:
    def build():
        simulation = Simulation(system, device, strategy=strategy, block=block, registers=most)
        return simulation, simulation.forces

    def choices(_, forces):
        return {"block": block} | device.resources(forces.parts["forces"])

    case = f"force kernel, {strategy}, blocks of {block}, registers at most {most or 'as compiled'}"
    return kernel_speed(case, device, build, choices, **options)


def kernel_speed(case: str, device, build, choices, *, expected, seconds: float, runs: int) -> Speed:
    """Time of the force kernel alone, in runs with arrays of their own, each of which finds the `expected` forces.

    `build()` gives a simulation and forces, and `choices` of these two are what was chosen, for `Speed.choices`.
    """

    def facts(made):
        simulation = made[0]
        names = {"strategy": simulation.strategy, "precision": simulation.precision, "size": size_of(simulation.system)}
        return {**names, "work": {}, "choices": choices(*made)}

    return measure_runs(
        case,
        device,
        build=build,
        check=lambda made: check_forces(made[0], expected, made[1]),
        time=lambda made: time_launches([made[1].parts["forces"]], device, seconds),
        facts=facts,
        runs=runs,
    )


def gains_by_limits(table: pd.DataFrame, block: int) -> pd.DataFrame:
    """What each limit of registers gains at one block size, from `launch_table`, beside the same launch without one.

    Columns strategy, limit, registers, local, occupancy, and of the launch without a limit "registers before" and
    "occupancy before"; gains (the time without a limit over that with it, run by run), and faster (in each run, whether
    the limit saves more than the runs of either launch lie apart).
    """
    columns, before = ["strategy", "limit", "registers", "local", "occupancy"], ["registers", "occupancy"]
    rows, compared = table[table["block"] == block], []
    without = rows[rows["limit"] == 0].set_index("strategy")
    for _, row in rows[rows["limit"] > 0].iterrows():
        free = without.loc[row["strategy"]]
        scatter = max(max(runs) - min(runs) for runs in (free["runs"], row["runs"]))
        faster = tuple(plain - limited > scatter for plain, limited in zip(free["runs"], row["runs"], strict=True))
        compared.append((*row[columns], *free[before], tuple(quotients(free["runs"], row["runs"])), faster))
    return pd.DataFrame(compared, columns=[*columns, *(f"{name} before" for name in before), "gains", "faster"])


def with_more_warps(limited: pd.DataFrame) -> pd.DataFrame:
    """The limits of `gains_by_limits` that raise the occupancy."""
    return limited[limited["occupancy"] > limited["occupancy before"]]


def that_gain(limited: pd.DataFrame) -> tuple[int, int]:
    """How many limits of `gains_by_limits` raise the occupancy, and how many of these gain in most runs."""
    faster = with_more_warps(limited)["faster"].map(median)
    return len(faster), int(faster.sum())


def share_that_gains(limited: pd.DataFrame) -> dict:
    """The share, in %, of the limits that raise the occupancy which gain speed, of both kernels; see `of_runs`.

    Raises InputError if no limit raises the occupancy.
    """
    raising = with_more_warps(limited)
    if raising.empty:
        raise InputError("no limit of registers raises the occupancy: choose smaller ones")
    return of_runs(100 * sum(run) / len(run) for run in zip(*raising["faster"], strict=True))


def note(limited: pd.DataFrame) -> str:
    """How many limits raise the occupancy, and the largest gain of each kernel, from `gains_by_limits`."""
    best = limited.assign(gain=limited["gains"].map(median)).groupby("strategy")["gain"].max()
    gains = ", ".join(f"{name} {gain:.3f}" for name, gain in best.items())
    return f"{len(with_more_warps(limited))} of {len(limited)} limits raise the occupancy; largest gains: {gains}"


def fastest_and_fullest(launched: pd.DataFrame) -> pd.DataFrame:
    """Each kernel's fastest launch, and how many times as long the one with the largest occupancy takes.

    Columns strategy, block, registers, occupancy, "largest occupancy", "its time", and the rank correlation of
    occupancy and speed; from `launch_table`.
    """
    rows = []
    for name, some in launched.groupby("strategy"):
        fastest = some.loc[some["seconds"].idxmin()]
        fullest = some.sort_values(["occupancy", "seconds"], ascending=[True, False]).iloc[-1]
        rank = -some[["occupancy", "seconds"]].corr("spearman").loc["occupancy", "seconds"]
        times = fullest["occupancy"], fullest["seconds"] / fastest["seconds"], rank
        rows.append((name, *fastest[["block", "registers", "occupancy"]], *times))
    columns = ["strategy", "block", "registers", "occupancy", "largest occupancy", "its time", "rank correlation"]
    return pd.DataFrame(rows, columns=columns)


def with_as_few_warps(launched: pd.DataFrame, block: int, occupied: float) -> float | None:
    """Speed of `particle` at an occupancy, over that of the same code in blocks of `block` threads; None without one.

    `launched` is from `launch_table`; launches whose registers are limited are other code.
    """
    rows = launched[(launched["strategy"] == "particle") & (launched["limit"] == 0)].set_index("block")
    same = rows[(rows["occupancy"] == occupied) & (rows["registers"] == rows.loc[block, "registers"])]
    if same.empty or occupied >= rows.loc[block, "occupancy"]:
        return None
    return rows.loc[block, "seconds"] / same["seconds"].iloc[0]
