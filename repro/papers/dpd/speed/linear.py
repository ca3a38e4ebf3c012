"""What is checked before a program with a linear generator is timed: its forces without noise, and its temperature.

Its random numbers depend on the order in which pairs are met, so no other program has the same forces.
"""

import shutil
import subprocess
from dataclasses import replace
from functools import cache

import pandas as pd

from repro.dpd.benchmark import check_forces, measure_speed, reference_forces
from repro.dpd.cases import Bulk, Poiseuille
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.observables import BLOCKS, Estimate, block_average, temperature
from repro.dpd.simulation import Simulation
from repro.dpd.system import System, in_cell_order
from repro.errors import CheckError
from repro.papers.dpd.thermodynamics.equilibrium import EVERY, series
from repro.parallel import Speed

#: largest distance of kT from 1, and the one beyond which a program simulates another fluid, however short the run
LIMIT, OTHER_FLUID = 0.005, 0.05

#: the box of `kt_of`, and the steps after which its error lies well below `LIMIT`
BOX, STEPS = (8.0, 8.0, 8.0), 2000


def timed(case: str, system: System, device, *, rounds: int, **options) -> Speed:
    """`benchmark.measure_speed`; a program without TEA has passed `check_linear` before it is timed."""
    if rounds:
        return measure_speed(case, system, device, rounds=rounds, **options)
    check = check_linear(options["strategy"], options.get("precision", "single"), device)
    return replace(measure_speed(case, system, device, rounds=0, **options), check=check)


@cache
def check_linear(strategy: str, precision: str, device) -> str:
    """Check the forces of a strategy with linear generators on a small flow; returns how well they agree.

    Without noise they must be those of one thread per cell, to rounding. Raises CheckError where that is not so.
    """
    noisy = in_cell_order(Poiseuille(6, 4, 8).system())
    # a time step so long that the noise, which falls with its root, is nothing beside the other forces
    quiet = replace(noisy, fluid=replace(noisy.fluid, dt=1e30))
    tested = Simulation(quiet, device, strategy=strategy, precision=precision, rounds=0)
    expected = reference_forces(quiet, strategy="cell", precision=precision, rounds=PAPER_ROUNDS)
    return f"without noise: {check_forces(tested, expected, other='cell')}; kT: see the table of temperatures"


def kt_of(device, *, steps: int, box=BOX, **options) -> Estimate:
    """kT of the paper's fluid, for which 1 is set, by a program over a run: its mean and its error."""
    simulation = Simulation(in_cell_order(Bulk(box).system()), device, **options)
    # before the first sample
    simulation.step(200)
    return block_average(series(simulation, {"kT": temperature}, max(2 * BLOCKS, steps // EVERY))["kT"])


def temperatures(ways: dict, *, steps: int = STEPS) -> pd.DataFrame:
    """kT of each program that is timed, by its name, device and options; columns program, kT, error, within."""
    rows = []
    for name, (device, options) in ways.items():
        kt, error = kt_of(device, steps=steps, **options)
        rows.append((name, kt, error, abs(kt - 1) <= max(LIMIT, 3 * error)))
    return pd.DataFrame(rows, columns=["program", "kT", "error", "within"])


def require_fluid(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `temperatures`; CheckError if a program has another one, and would be timed for another fluid."""
    wrong = table[(table["kT"] - 1).abs() > OTHER_FLUID]
    if len(wrong):
        name, kt = wrong.iloc[0][["program", "kT"]]
        raise CheckError(f"{name}: kT = {kt:.3f} where 1 is set: it simulates another fluid, and is not timed")
    return table


def plain_c(source, folder, box, steps: int) -> dict | None:
    """The rate and the temperature of the plain C program of tools/peers, or None where there is no C compiler.

    `source` is its file, `folder` where the program may be built. CheckError if it does not run.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    program = folder / "dpd_serial"
    build = [compiler, "-O3", "-march=native", "-o", str(program), str(source), "-lm"]
    for command in (build, [str(program), *(str(int(side)) for side in box), str(steps)]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CheckError(f"{source.name}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    words = done.stdout.split()
    found = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    return {"updates": found["updates/s"], "kT": found["kT"]}
