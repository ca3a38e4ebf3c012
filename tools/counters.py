"""What a GPU's counters say of the kernels of a step: occupancy, registers, what is busy, and bytes an item.

    python tools/counters.py                              # every program, in its size
    python tools/counters.py "SPH, sorted cells" --size 20 20 25 --size 200 200 250
    python tools/counters.py "LBM, pull" "LBM, half pairs" --size 256

NVIDIA's profiler ncu must be installed and allowed to read counters. A size is one edge for all axes, or three; it says
nodes, particles or cells along them. Two steps are counted, since those of one array differ, and kernels that take a
twentieth of the time are printed. Counters are of the card and the size that are printed with them, and of no other.
What was found on one card stands in docs/performance.md.
"""

import argparse
import csv
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import partial

import numpy as np

#: counter: what it is called here
METRICS = {
    "gpu__time_duration.sum": "ns",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy",
    "launch__registers_per_thread": "registers",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue",
    "smsp__thread_inst_executed_per_inst_executed.ratio": "lanes",
    "smsp__inst_executed.sum": "instructions",
    "l1tex__throughput.avg.pct_of_peak_sustained_active": "L1 busy",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "L2 busy",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "DRAM busy",
    "l1tex__t_bytes.sum": "L1",
    "lts__t_bytes.sum": "L2",
    "dram__bytes_read.sum": "DRAM read",
    "dram__bytes_write.sum": "DRAM written",
}
#: what a warp waits for, of which the longest is printed
WAITS = (
    "long_scoreboard",
    "short_scoreboard",
    "lg_throttle",
    "mio_throttle",
    "math_pipe_throttle",
    "barrier",
    "wait",
    "not_selected",
    "no_instruction",
    "drain",
)
METRICS |= {f"smsp__average_warps_issue_stalled_{each}_per_issue_active.ratio": each for each in WAITS}
WARM_UP, STEPS, SHARE = 40, 2, 0.05


def box(size, device, **options):
    """A cubic cavity, by its nodes."""
    from repro.lbm.benchmark import in_motion
    from repro.lbm.cases import CubicCavity
    from repro.lbm.simulation import Simulation

    return in_motion(Simulation(CubicCavity(nodes=size[0]).problem, device, **options)), size[0] ** 3


def pores(size, device, porosity=0.4, **options):
    """A packing of spheres, by its pores."""
    from repro.lbm.benchmark import in_motion
    from repro.lbm.media import PoreSpace, random_spheres
    from repro.lbm.porous.problem import PorousProblem
    from repro.lbm.porous.simulation import PorousFlow

    space = PoreSpace(random_spheres(tuple(size), porosity, min(size) / 6, 1))
    problem = PorousProblem(space, 0.8, (1e-6, 0.0, 0.0), "mrt")
    return in_motion(PorousFlow(problem, device, block=256, **options)), space.pores


def two_fluids(size, device, **options):
    """Two fluids in an open box, by its nodes."""
    from repro.lbm.media import PoreSpace
    from repro.lbm.two_fluids.benchmark import stirred
    from repro.lbm.two_fluids.cases import Mixture

    space = PoreSpace(np.zeros(size, bool))
    return stirred(Mixture(space, acceleration=0.0).problem, device, **options), space.pores


def dpd(size, device, **options):
    """A fluid at rest in a periodic box, by its particles; sizes are sides of the box."""
    from repro.dpd.cases import Bulk
    from repro.dpd.simulation import Simulation

    system = Bulk(tuple(map(float, size))).system()
    return Simulation(system, device, strategy="sorted cells", **options), system.count


def water(size, device, search="sorted cells", **options):
    """The paper's column of water, by its pairs of neighbours."""
    from repro.sph.benchmark import mean_neighbours
    from repro.sph.cases import DamBreak
    from repro.sph.simulation import Simulation

    simulation = Simulation(DamBreak.of_paper(tuple(size)).system(), device, strategy=search, **options)
    return simulation, mean_neighbours(simulation) * simulation.system.count


def electrons(size, device, **options):
    """The paper's source in a magnetic field, 30 a cell, by its particles; sizes are cells."""
    from repro.pic.cases import UniformSource
    from repro.pic.simulation import Simulation

    system = UniformSource(cells=size[0], per_cell=30).system()
    return Simulation(system, device, sort_every=20, **options), system.count


SEARCHES = ("cell table", "linked list", "sorted cells", "cell table, block sort")
#: name: what is built, in which size, and what it is counted by
PROGRAMS = {
    "LBM, pull": (partial(box, strategy="pull"), 257, "node"),
    "LBM, pairs": (partial(box, strategy="paired pull"), 258, "node"),
    "LBM, half pairs": (partial(box, strategy="paired pull", precision="half"), 258, "node"),
    "LBM, pores in place": (partial(pores, strategy="sparse in place"), 192, "pore"),
    "LBM, two fluids": (partial(two_fluids, strategy="dense"), 192, "node"),
    "LBM, two fluids in tiles": (partial(two_fluids, strategy="tiled"), 192, "node"),
    "DPD": (dpd, 68, "particle"),
    "DPD, 32 rounds": (partial(dpd, rounds=32), 68, "particle"),
    **{f"SPH, {name}": (partial(water, search=name), 100, "pair") for name in SEARCHES},
    "SPH, one sum": (partial(water, density="rate"), 100, "pair"),
    "electrons": (electrons, 100, "electron"),
    "electrons, double": (partial(electrons, precision="double"), 100, "electron"),
}


def kernels_of(lines: Iterable[str]) -> list[dict]:
    """The counters and the name of each launch, in their order, from what ncu prints as CSV among other lines."""
    rows = list(csv.DictReader(line for line in lines if line.startswith('"')))
    found: dict[str, dict] = {}
    for row in rows:
        # numba's names begin with the module, and end with the types
        name = row["Kernel Name"].partition("[")[0].partition("(")[0].rpartition("::")[2]
        kernel = found.setdefault(row["ID"], {"name": name})
        kernel[METRICS[row["Metric Name"]]] = float(row["Metric Value"].replace(",", ""))
    return list(found.values())


def counted_steps(program: str, size: tuple[int, int, int]) -> None:
    """Two steps under the profiler, after some that are not; prints the card and the number of items first."""
    import cupy

    from repro.parallel import select

    device, (build, *_) = select("cuda"), PROGRAMS[program]
    simulation, items = build(size, device)
    simulation.advance(WARM_UP, every=2**40)
    print(f"CARD {device.description}")
    print(f"ITEMS {items}", flush=True)
    cupy.cuda.profiler.start()
    simulation.advance(STEPS, every=2**40)
    cupy.cuda.runtime.deviceSynchronize()
    cupy.cuda.profiler.stop()


def show(program: str, size: tuple[int, int, int]) -> bool:
    """Prints a line for a step of a program, and one for each of its long kernels.

    False where the profiler gave no counters; what it said instead is printed.
    """
    profiler = ["ncu", "--profile-from-start", "off", "--clock-control", "none", "--csv", "--print-units", "base"]
    profiler += ["--metrics", ",".join(METRICS)]
    own = [sys.executable, __file__, program, "--inside", "--size", *map(str, size)]
    run = subprocess.run([*profiler, *own], capture_output=True, text=True, check=False)
    lines, grid = run.stdout.splitlines(), " x ".join(map(str, size))
    said = dict(line.split(maxsplit=1) for line in lines if line.startswith(("ITEMS ", "CARD ")))
    kernels = kernels_of(lines)
    if run.returncode or not kernels or len(said) < 2:
        print(f"{program}, {grid}: ncu said: {(run.stdout + run.stderr).strip()[-400:]}", file=sys.stderr, flush=True)
        return False
    total, items = sum(kernel["ns"] for kernel in kernels), float(said["ITEMS"])
    print(
        f"{said['CARD']}: {program}, {grid}, {items:,.0f} {PROGRAMS[program][2]}s: {len(kernels) / STEPS:g} kernels "
        f"and {total / STEPS / 1000:.1f} us a step"
    )
    for kernel in kernels:
        if kernel["ns"] > SHARE * total:
            print(f"  {line_of(kernel, items)}", flush=True)
    return True


def line_of(kernel: dict, items: float) -> str:
    """What one launch did, in a line."""
    waits = sorted(WAITS, key=lambda each: -kernel[each])[:2]
    each = {level: kernel[level] / items for level in ("L1", "L2", "DRAM read", "DRAM written")}
    return (
        f"{kernel['name']} {kernel['ns'] / 1000:.1f} us, {kernel['registers']:.0f} registers, "
        f"occupancy {kernel['occupancy']:.0f} %, issue {kernel['issue']:.0f} %, {kernel['lanes']:.0f} of 32 lanes, "
        f"{32 * kernel['instructions'] / items:.0f} instructions an item; busy: L1 {kernel['L1 busy']:.0f} %, "
        f"L2 {kernel['L2 busy']:.0f} %, DRAM {kernel['DRAM busy']:.0f} %; bytes an item: "
        + ", ".join(f"{level} {value:.2f}" for level, value in each.items())
        + "; waits for "
        + ", ".join(f"{name} {kernel[name]:.1f}" for name in waits)
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="*", help=f"one or more of {', '.join(PROGRAMS)}; default: all")
    text = "along each axis, or for all; again and again for several sizes; default: the program's own"
    parser.add_argument("--size", type=int, nargs="+", metavar="N", action="append", help=text)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    words = parser.parse_args()
    if unknown := [name for name in words.program if name not in PROGRAMS]:
        parser.error(f"no program '{unknown[0]}': choose from {', '.join(PROGRAMS)}")
    if any(len(size) not in (1, 3) for size in words.size or ()):
        parser.error("--size takes one number, or three")
    jobs = [
        (name, tuple(size) * (3 // len(size)))
        for name in words.program or PROGRAMS
        for size in words.size or [[PROGRAMS[name][1]]]
    ]
    if words.inside:
        counted_steps(*jobs[0])
    elif not shutil.which("ncu"):
        sys.exit("counters.py needs NVIDIA's profiler: ncu is not on the path")
    else:
        counted = [show(*job) for job in jobs]
        sys.exit(not all(counted))
