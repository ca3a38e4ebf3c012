"""What a GPU's counters say of the kernels of a step of SPH: occupancy, registers, and bytes a neighbour.

    python tools/counters.py                                   # every search, 10^4 and 10^6 particles
    python tools/counters.py "sorted cells" --column 20 20 25
    python tools/counters.py --column 44 44 52 --column 200 200 250   # every search, 10^5 and 10^7 particles

NVIDIA's profiler ncu must be installed and allowed to read counters. The column of water is that of the paper's tank.
Counters are of the card and the number of particles that are printed with them, and of no other. What it printed on
one card stands in docs/performance.md.
"""

import argparse
import csv
import shutil
import subprocess
import sys
from collections.abc import Iterable
from math import prod

#: counter: what it is called here
METRICS = {
    "gpu__time_duration.sum": "ns",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy",
    "launch__registers_per_thread": "registers",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue",
    "smsp__thread_inst_executed_per_inst_executed.ratio": "lanes",
    "l1tex__t_bytes.sum": "L1",
    "lts__t_bytes.sum": "L2",
    "dram__bytes.sum": "DRAM",
}
COLUMNS = ((20, 20, 25), (100, 100, 100))
WARM_UP = 40


def kernels_of(lines: Iterable[str]) -> list[dict[str, float]]:
    """The counters of each launch, in their order, from what ncu prints as CSV among other lines."""
    rows = list(csv.DictReader(line for line in lines if line.startswith('"')))
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        value = float(row["Metric Value"].replace(",", ""))
        found.setdefault(row["ID"], {})[METRICS[row["Metric Name"]]] = value
    return list(found.values())


def one_step(search: str, column: tuple[int, int, int]) -> None:
    """A step under the profiler, after some that are not; prints the card and all pairs of neighbours first."""
    import cupy

    from repro.parallel import select
    from repro.sph.benchmark import mean_neighbours
    from repro.sph.cases import DamBreak
    from repro.sph.simulation import Simulation

    device = select("cuda")
    simulation = Simulation(DamBreak.of_paper(column).system(), device, strategy=search)
    simulation.advance(WARM_UP, every=2**40)
    print(f"CARD {device.description}")
    print(f"PAIRS {mean_neighbours(simulation) * simulation.system.count}", flush=True)
    cupy.cuda.profiler.start()
    simulation.advance(1, every=2**40)
    cupy.cuda.runtime.deviceSynchronize()
    cupy.cuda.profiler.stop()


def show(search: str, column: tuple[int, int, int]) -> bool:
    """Prints a line for the whole step, and one for each of its two longest kernels: the sums over neighbours.

    False where the profiler gave no counters; what it said instead is printed.
    """
    profiler = ["ncu", "--profile-from-start", "off", "--clock-control", "none", "--csv", "--print-units", "base"]
    profiler += ["--metrics", ",".join(METRICS)]
    own = [sys.executable, __file__, search, "--inside", "--column", *map(str, column)]
    run = subprocess.run([*profiler, *own], capture_output=True, text=True, check=False)
    lines, size = run.stdout.splitlines(), " x ".join(map(str, column))
    said = dict(line.split(maxsplit=1) for line in lines if line.startswith(("PAIRS ", "CARD ")))
    kernels = kernels_of(lines)
    if run.returncode or not kernels or len(said) < 2:
        print(f"{search}, {size}: ncu said: {(run.stdout + run.stderr).strip()[-400:]}", file=sys.stderr, flush=True)
        return False
    total, pairs = sum(kernel["ns"] for kernel in kernels) / 1000, float(said["PAIRS"])
    print(f"{said['CARD']}: {search}, {size} = {prod(column):,} particles: {len(kernels)} kernels, {total:.0f} us")
    for kernel in sorted(kernels, key=lambda kernel: -kernel["ns"])[:2]:
        bytes_each = ", ".join(f"{level} {kernel[level] / pairs:.2f}" for level in ("L1", "L2", "DRAM"))
        print(
            f"  {kernel['ns'] / 1000:.1f} us, occupancy {kernel['occupancy']:.0f} %, issue {kernel['issue']:.0f} %, "
            f"{kernel['registers']:.0f} registers, {kernel['lanes']:.0f} of 32 lanes; bytes a neighbour: {bytes_each}",
            flush=True,
        )
    return True


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("search", nargs="?", help="key of repro.sph.strategies.STRATEGIES; default: all")
    text = "particles along each axis, for several sizes again and again; default: two sizes"
    parser.add_argument("--column", type=int, nargs=3, metavar="N", action="append", help=text)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    words = parser.parse_args()
    columns = [tuple(column) for column in words.column or COLUMNS]
    if words.inside:
        one_step(words.search, columns[0])
    elif not shutil.which("ncu"):
        sys.exit("counters.py needs NVIDIA's profiler: ncu is not on the path")
    else:
        from repro.sph.strategies import STRATEGIES

        searches = [words.search] if words.search else STRATEGIES
        counted = [show(each, size) for size in columns for each in searches]
        sys.exit(not all(counted))
