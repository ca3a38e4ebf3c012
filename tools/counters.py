"""What a GPU's counters say of the kernels of a step of SPH: occupancy, registers, and bytes a neighbour.

    python tools/counters.py                                   # every search, 10^4 and 10^6 particles
    python tools/counters.py "sorted cells" --column 20 20 25

NVIDIA's profiler ncu must be installed and allowed to read counters. The column of water is that of the paper's tank.
What it printed on one card stands in docs/performance.md.
"""

import argparse
import csv
import shutil
import subprocess
import sys
from collections.abc import Iterable

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
    """A step under the profiler, after some that are not; prints the pairs of neighbours of all particles first."""
    import cupy

    from repro.parallel import select
    from repro.sph.benchmark import mean_neighbours
    from repro.sph.cases import DamBreak
    from repro.sph.simulation import Simulation

    simulation = Simulation(DamBreak.of_paper(column).system(), select("cuda"), strategy=search)
    simulation.advance(WARM_UP, every=2**40)
    print(f"PAIRS {mean_neighbours(simulation) * simulation.system.count}", flush=True)
    cupy.cuda.profiler.start()
    simulation.advance(1, every=2**40)
    cupy.cuda.runtime.deviceSynchronize()
    cupy.cuda.profiler.stop()


def show(search: str, column: tuple[int, int, int]) -> None:
    """Prints a line for the whole step, and one for each of its two longest kernels: the sums over neighbours."""
    profiler = [
        "ncu",
        "--profile-from-start",
        "off",
        "--clock-control",
        "none",
        "--csv",
        "--metrics",
        ",".join(METRICS),
    ]
    own = [sys.executable, __file__, search, "--inside", "--column", *map(str, column)]
    run = subprocess.run([*profiler, *own], capture_output=True, text=True, check=False)
    lines = run.stdout.splitlines()
    kernels, pairs = kernels_of(lines), [float(line.split()[1]) for line in lines if line.startswith("PAIRS")]
    if run.returncode or not kernels or not pairs:
        sys.exit(f"ncu said: {(run.stdout + run.stderr).strip()[-400:]}")
    total = sum(kernel["ns"] for kernel in kernels) / 1000
    print(f"{search}, {' x '.join(map(str, column))}: {len(kernels)} kernels, {total:.0f} us")
    for kernel in sorted(kernels, key=lambda kernel: -kernel["ns"])[:2]:
        bytes_each = ", ".join(f"{level} {kernel[level] / pairs[0]:.2f}" for level in ("L1", "L2", "DRAM"))
        print(
            f"  {kernel['ns'] / 1000:.1f} us, occupancy {kernel['occupancy']:.0f} %, issue {kernel['issue']:.0f} %, "
            f"{kernel['registers']:.0f} registers, {kernel['lanes']:.0f} of 32 lanes; bytes a neighbour: {bytes_each}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("search", nargs="?", help="key of repro.sph.strategies.STRATEGIES; default: all")
    parser.add_argument(
        "--column", type=int, nargs=3, metavar="N", help="particles along each axis; default: two sizes"
    )
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    words = parser.parse_args()
    columns = [tuple(words.column)] if words.column else COLUMNS
    if words.inside:
        one_step(words.search, columns[0])
    elif not shutil.which("ncu"):
        sys.exit("counters.py needs NVIDIA's profiler: ncu is not on the path")
    else:
        from repro.sph.strategies import STRATEGIES

        for size in columns:
            for each in [words.search] if words.search else STRATEGIES:
                show(each, size)
