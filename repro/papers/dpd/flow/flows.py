"""Driven flows as the paper runs them, and two programs after its text in them (sections 5 and 6).

A flow runs first without the force, and is then averaged window by window. The serial program, hundreds of times
slower, goes on from settled states of a slice of it, on each core from one of another seed, for so long that a wrong
viscosity would show.
"""

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import ceil, exp, isfinite, pi
from multiprocessing import get_context

import numpy as np
from scipy.stats import norm

from repro.dpd import exact
from repro.dpd.averages import Averages, Field
from repro.dpd.cases import Bulk, Channel, Poiseuille
from repro.dpd.fluid import Fluid
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.simulation import Simulation
from repro.dpd.system import System, in_cell_order
from repro.errors import require
from repro.parallel import select

#: two programs after the paper's text: a linked list with one running sequence of random numbers, on one core; and a
#: table filled atomically, one thread per particle, two runs of TEA for a pair
SERIAL_PROGRAM = {"strategy": "linked", "rounds": 0}
GPU_PROGRAM = {"strategy": "particle", "rounds": PAPER_ROUNDS}

Case = Poiseuille | Channel | Bulk

#: steps between two samples of the averages
EVERY = 10

#: relaxation times after which a flow counts as settled: 2 % of the way is left
SETTLED = 4.0

#: share of the largest velocity that counts as agreement, and averages of each run that it takes to tell
AGREEMENT, FEWEST = 0.05, 3

#: the name of theory among the profiles
THEORY = "theory"

#: added to the seed for the part with the force, so that its noise differs from that of the part before
_NEXT_SEED = 1_000_003


@dataclass(frozen=True)
class Flow:
    """A run: its system as it is at the end, and its averages window by window."""

    end: System
    #: steps without the force at the beginning, and steps in a window
    equilibration: int
    window: int
    windows: list[Field]

    @property
    def ends(self) -> np.ndarray:
        """The step at which each window ends; the steps without the force count."""
        return self.equilibration + self.window * np.arange(1, len(self.windows) + 1)

    def settled(self, relaxation: float) -> list[Field]:
        """The windows that begin four relaxation times or more after the force sets in; InputError if none does."""
        least = self.equilibration + SETTLED * relaxation / self.end.fluid.dt
        kept = [f for f, end in zip(self.windows, self.ends, strict=True) if end - self.window >= least]
        late = f"{self.ends[-1]} steps end before the flow has settled and a window of {self.window} steps has passed"
        require(kept, f"{self.end.name}: {late}: choose at least {int(least) + 1 + self.window}")
        return kept


def run(case: Case, device, *, steps, equilibration, window, columns=1, rows=30, seed=1, **options) -> Flow:
    """Run a case for `steps` steps in all, the first `equilibration` of them without the body force.

    Afterwards each `window` steps give one average, in `columns` x `rows` bins over the fluid's height. `options` go
    to the simulation. Raises InputError unless the driven steps are whole windows.
    """
    driven = _driven(steps, equilibration, window)
    start = _rested(case, device, equilibration, seed, **options)
    bins = {"columns": columns, "rows": rows, "seed": seed + _NEXT_SEED}
    found, end = go_on(start, device, windows=driven // window, window=window, **bins, **options)
    return Flow(end, equilibration, window, found)


def _rested(case, device, equilibration: int, seed: int, **options) -> System:
    """The system of a case after the steps without its force."""
    system = case.system(seed)
    resting = Simulation(replace(system, drive=0.0), device, seed=seed, **options)
    resting.step(equilibration)
    return replace(resting.as_it_is(), drive=system.drive)


def go_on(system: System, device, *, window: int, seed: int, windows=1, columns=1, rows=30, **options):
    """Averages over so many windows from a system on, and the system at the end."""
    simulation, walls = Simulation(system, device, seed=seed, **options), system.walls
    low, high = (walls.bottom, walls.top) if isfinite(walls.top) else (0.0, system.box[2])
    averages, found = Averages(simulation, columns=columns, rows=rows, low=low, high=high), []
    for _ in range(windows):
        simulation.step(window, every=EVERY, observers=(averages,))
        found.append(averages.take())
    return found, simulation.as_it_is()


def states(case, device, seeds: Iterable[int], *, steps: int, equilibration: int, **options) -> list[System]:
    """The state of a case after so many steps in all, from each seed; by the fastest program where none is given."""
    found = []
    for seed in seeds:
        start = _rested(case, device, equilibration, seed, **options)
        simulation = Simulation(start, device, seed=seed + _NEXT_SEED, **options)
        simulation.step(steps - equilibration)
        found.append(simulation.as_it_is())
    return found


def gpu_program(starts: list[System], device, **bins) -> list[Field]:
    """The average of one window of the GPU's program from each state on; `bins` as of `go_on`."""
    program = bins | GPU_PROGRAM
    return [go_on(start, device, seed=2 * _NEXT_SEED + k, **program)[0][0] for k, start in enumerate(starts)]


def serial_program(starts: list[System], **bins) -> list[Field]:
    """The same of the serial program, a process a state, each with another part of the running sequence."""
    jobs = [partial(_serially, in_cell_order(start), seed=5 + 7919 * k, **bins) for k, start in enumerate(starts)]
    if len(jobs) == 1:
        return [jobs[0]()]
    # a process that was forked would share the parent's GPU
    with ProcessPoolExecutor(min(len(jobs), select("threads").workers), get_context("spawn")) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]


def _serially(system: System, **options) -> Field:
    return go_on(system, select("serial"), **options, **SERIAL_PROGRAM)[0][0]


def require_runs(runs: Iterable[tuple[Case, int]], *, equilibration: int, window: int, least: int = 1, **_) -> None:
    """Raise InputError if one of the cases has no system, or its steps are not whole windows: before any of them runs.

    `runs` are pairs (case, steps), and `least` says how many windows they must have; the rest is as for `run`.
    """
    for case, steps in runs:
        found, wanted = _driven(steps, equilibration, window) // window, equilibration + least * window
        require(found >= least, f"{steps} steps, windows of {window}: must be {wanted} steps at least, {least} windows")
        case.system(1)


def require_settled(case: Poiseuille, steps: int, *, equilibration: int, window: int, **_) -> None:
    """Raise InputError if a flow between plates has not settled before its last window; arguments as for `run`."""
    relaxation = relaxation_time(case.height, case.fluid)
    least = ceil(equilibration + SETTLED * relaxation / case.fluid.dt) + window
    late = f"{steps} steps end before the flow has settled and a window of {window} steps has passed"
    require(steps >= least, f"a height of {case.height:g}: {late}: choose at least {least}")


def _driven(steps: int, equilibration: int, window: int) -> int:
    """The steps with the body force, which are whole windows."""
    driven = steps - equilibration
    chosen = f"{steps} steps, {equilibration} of them without the force, windows of {window}"
    hint = f"choose a window that is a multiple of {EVERY} steps, and {equilibration} steps and some windows in all"
    whole = equilibration >= 0 and window > 0 and window % EVERY == 0 and driven > 0 and driven % window == 0
    require(whole, f"{chosen}: {hint}")
    return driven


def weighted_mean(weight: np.ndarray, values) -> np.ndarray:
    """The mean over the first axis; an empty bin has no velocity, and no weight."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(weight > 0, weight * np.array(values), 0.0).sum(0) / weight.sum(0)


def mean_field(windows: list[Field]) -> Field:
    """The average over windows of equal bins, each particle with the same weight."""
    count, samples = np.array([f.density * f.samples for f in windows]), sum(f.samples for f in windows)
    u, w = (weighted_mean(count, [getattr(f, name) for f in windows]) for name in ("velocity_x", "velocity_z"))
    square = weighted_mean(count, [3 * f.temperature + f.velocity_x**2 + f.velocity_z**2 for f in windows])
    return Field(windows[0].x, windows[0].z, count.sum(0) / samples, u, w, (square - u**2 - w**2) / 3, samples)


@dataclass(frozen=True)
class Comparison:
    """Profiles of both programs, each from averages that are independent of each other, and of theory."""

    #: by program: the profile of each average, of shape (averages, bins); nan in empty bins
    averages: dict[str, np.ndarray]
    #: the largest velocity
    scale: float
    #: the share of it by which twice the viscosity would have moved the profile of the program that ran least
    moved: float
    theory: np.ndarray | None = None

    @property
    def profiles(self) -> dict[str, np.ndarray]:
        """The mean profile of each program, and theory, of shape (bins,)."""
        means = {name: profiles.mean(0) for name, profiles in self.averages.items()}
        return means if self.theory is None else means | {THEORY: self.theory}

    @property
    def apart(self) -> dict[str, float]:
        """The largest distance of each two profiles over `scale`, by "first and second"; empty bins left out."""
        pairs = combinations(self.profiles.items(), 2)
        return {f"{a} and {b}": float(np.nanmax(np.abs(p - q))) / self.scale for (a, p), (b, q) in pairs}

    @property
    def largest(self) -> float:
        """The largest of the distances of the programs: what is judged."""
        return max(distance for name, distance in self.apart.items() if THEORY not in name)

    @property
    def from_theory(self) -> float:
        """The largest of their distances from theory."""
        return max(distance for name, distance in self.apart.items() if THEORY in name)

    @property
    def chance(self) -> float:
        """The largest distance of two programs that thermal noise alone makes, over the largest velocity: its median.

        From the standard error of a bin, which the scatter of the averages gives; nan for a single average.
        """
        if min(map(len, self.averages.values())) < 2:
            return float("nan")
        squares = [np.nanmean(p.var(0, ddof=1)) / len(p) for p in self.averages.values()]
        bins = int(np.isfinite(sum(self.profiles.values())).sum())
        return float(np.sqrt(sum(squares)) * norm.ppf((1 + 0.5 ** (1 / bins)) / 2)) / self.scale

    @property
    def resolved(self) -> bool:
        """Whether a distance of `AGREEMENT` can be told from chance, and twice the viscosity would have made one."""
        enough = min(map(len, self.averages.values())) >= FEWEST
        return enough and self.chance < AGREEMENT < self.moved

    @property
    def evidence(self) -> dict:
        """Keywords of `Record.measure`, in %."""
        return {"measured": 100 * self.largest, "scatter": 100 * self.chance}


def kinematic_viscosity(fluid: Fluid) -> float:
    """nu = eta / rho, with the viscosity eta of kinetic theory."""
    return exact.viscosity(fluid) / fluid.density


def relaxation_time(height: float, fluid: Fluid) -> float:
    """H^2 / (pi^2 nu): the time in which the slowest mode between two plates falls by a factor of e."""
    return height**2 / (pi**2 * kinematic_viscosity(fluid))


def twice_the_viscosity(time: float, relaxation: float) -> float:
    """By how much twice the viscosity lowers a settled profile, averaged over a `time`; over its largest velocity.

    Friction then exceeds the force g by g, so the fluid loses g t at first. The excess falls as exp(-2 t / tau), hence
    g tau / 2 (1 - exp(-2 t / tau)), and g tau is 8 / pi^2 of the largest velocity g H^2 / (8 nu).
    """
    spent = 2 * time / relaxation
    return 4 / pi**2 * (1 - (1 - exp(-spent)) / spent)
