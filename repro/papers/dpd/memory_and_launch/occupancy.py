"""Occupancy of the force kernels by the GPU's driver, and what limits of registers do to it (section 4.6)."""

import pandas as pd

from repro.dpd.benchmark import kernel_speed, reference_forces
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.strategies import STRATEGIES
from repro.dpd.system import System
from repro.errors import require
from repro.papers.speed import of_runs, quotients, speed_table
from repro.parallel import Speed

WARP = 32

#: most bytes of shared memory of a block, fixed when the kernel is compiled
MOST_STATIC_SHARED = 49152

_INCLUDES = "the force kernel alone, at fixed positions, replayed as a graph on a GPU"

#: strategies whose force kernels are launched
KERNELS = ("particle", "sorted cells")

#: claims on what a multiprocessor of the paper's K20c has at most: warps, threads, blocks, registers, registers a
#: thread and bytes of shared memory
LIMITS = [f"dpd-{number:03d}" for number in range(12, 18)]


def limits_here(device) -> list[int]:
    """The same of the GPU at hand, as its driver states it."""
    found = device.xp.cuda.runtime.getDeviceProperties(device.xp.cuda.Device().id)
    threads, blocks = found["maxThreadsPerMultiProcessor"], found["maxBlocksPerMultiProcessor"]
    registers, shared = found["regsPerMultiprocessor"], found["sharedMemPerMultiprocessor"]
    return [threads // found["warpSize"], threads, blocks, registers, 255, shared]


def limits_table(stated, device) -> pd.DataFrame:
    """The paper's limits, from its claims by id, and beside them those of the GPU at hand, if there is one."""
    names = [claim.quantity.removesuffix(" max") for claim in stated.values()]
    table = pd.DataFrame({"at most": names, "paper, K20c": [int(claim.value) for claim in stated.values()]})
    here = device.name == "cuda" and not device.simulated
    return table.assign(**{device.description: limits_here(device)}) if here else table


def occupancy(device, launch, block: int) -> float:
    """The share of a multiprocessor's warps that a launch, which has run, fills by the driver's count."""
    from numba import cuda

    context, code = cuda.current_context(), device.kernel_of(launch)._codelibrary.get_cufunc()
    blocks = context.get_active_blocks_per_multiprocessor(code, block, 0)
    return blocks * -(-block // WARP) / limits_here(device)[0]


def taken(device, forces, block: int) -> dict:
    """The occupancy of a force kernel that has run, and what its threads take; empty where none takes registers."""
    if device.name != "cuda" or device.simulated:
        return {}
    launch = forces.parts["forces"]
    return {"occupancy": occupancy(device, launch, block)} | device.resources(launch)


def limit_needed(block: int) -> int | None:
    """The limit of registers a thread without which a block may not fit: none up to 256 threads of 255 registers."""
    return None if block <= 256 else 65536 // block


def launches(strategy: str, blocks, registers, block: int) -> list[tuple]:
    """Launches to time, (threads per block, most registers): every valid block size, and every limit at one block size.

    Raises InputError unless `block` is one of `blocks`, and fits whatever registers its threads take.
    """
    sizes = [size for size in blocks if 4 * STRATEGIES[strategy].TRAITS.shared_words * size <= MOST_STATIC_SHARED]
    sure = [size for size in sizes if limit_needed(size) is None]
    require(block in sure, f"block = {block}: choose one of {', '.join(map(str, sure))}")
    return [(size, None) for size in sizes] + [(block, most) for most in registers]


def launch_table(system: System, device, blocks, registers, block: int, record=None, *, seconds: float, runs: int):
    """A table of the times of KERNELS for each of their `launches`, on a GPU; each is checked.

    A limit of 0 is none, local are the bytes that a thread spills. A block above 256 threads gets the limit with which
    it fits. Only blocks of `block` threads, which `gains_by_limits` compares, run repeatedly.
    """
    options, cases = {"expected": reference_forces(system, rounds=PAPER_ROUNDS), "seconds": seconds}, []
    tried = [(name, *launch) for name in KERNELS for launch in launches(name, blocks, registers, block)]
    tried = [(strategy, size, most or limit_needed(size)) for strategy, size, most in tried]
    for strategy, size, most in tried:
        case = f"force kernel, {strategy}, blocks of {size}, registers at most {most or 'as compiled'}"
        chosen = {"strategy": strategy, "block": size, "registers": most, "runs": runs if size == block else 1}
        cases.append((case, system, device, options | chosen))
    table = speed_table(cases, record, measured=_launch_speed, includes=_INCLUDES)
    table = table.assign(block=[size for _, size, _ in tried], limit=[most or 0 for *_, most in tried])
    columns = ["strategy", "block", "limit", "registers", "local", "shared", "occupancy", "seconds", "runs", "spread"]
    return table[columns]


def _launch_speed(case: str, system: System, device, *, block: int, **options) -> Speed:
    options |= {"forces_of": lambda made: made.forces, "rounds": PAPER_ROUNDS, "block": block}
    choices = {"choices": lambda _, forces: {"block": block} | taken(device, forces, block)}
    return kernel_speed(case, system, device, **options, **choices)


def gains_by_limits(table: pd.DataFrame, block: int) -> pd.DataFrame:
    """What each limit of registers gains at one block size, from `launch_table`, beside the same launch without one.

    Also of each run the gain, and whether it is faster by more than the runs of either launch lie apart.
    """
    columns, before = ["strategy", "limit", "registers", "local", "occupancy"], ["registers", "occupancy"]
    rows, compared = table[table["block"] == block], []
    without = rows[rows["limit"] == 0].set_index("strategy")
    for _, row in rows[rows["limit"] > 0].iterrows():
        free = without.loc[row["strategy"]]
        both = free["runs"], row["runs"]
        scatter = max(max(runs) - min(runs) for runs in both)
        faster = tuple(plain - limited > scatter for plain, limited in zip(*both, strict=True))
        compared.append((*row[columns], *free[before], tuple(quotients(*both)), faster))
    return pd.DataFrame(compared, columns=[*columns, *(f"{name} before" for name in before), "gains", "faster"])


def share_that_gains(limited: pd.DataFrame) -> dict:
    """The share, in %, of limits raising the occupancy that gain speed, see `of_runs`; InputError if none raises it."""
    raising = limited[limited["occupancy"] > limited["occupancy before"]]
    require(len(raising), "no limit of registers raises the occupancy: choose smaller ones")
    return of_runs(100 * sum(run) / len(run) for run in zip(*raising["faster"], strict=True))
