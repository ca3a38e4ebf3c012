"""Driven flows as the paper runs them: first without the force, then averaged window by window (section 5)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import isfinite, pi

import numpy as np

from repro.dpd import exact
from repro.dpd.averages import Averages, Field
from repro.dpd.cases import Bulk, Channel, Poiseuille
from repro.dpd.fluid import Fluid
from repro.dpd.simulation import Simulation
from repro.dpd.system import System
from repro.errors import InputError
from repro.parallel import CpuDevice

#: steps between two samples of the averages
EVERY = 10

#: relaxation times after which a flow counts as settled: 2 % of the way is left
SETTLED = 4.0

#: the share of a window between two snapshots: in the paper's channel the jet then moves a fraction of its length
_SNAPSHOTS = 5

#: added to the seed for the part with the force, so that its noise differs from that of the part before
_NEXT_SEED = 1_000_003


@dataclass(frozen=True)
class Flow:
    """A run: its system, and its averages window by window."""

    system: System
    #: steps without the force at the beginning, and steps in a window
    equilibration: int
    window: int
    windows: list[Field]
    #: positions of all particles `seen` steps before the end and at the end, each of shape (count, 3)
    snapshots: tuple[np.ndarray, ...] = ()
    seen: int = 0

    @property
    def ends(self) -> np.ndarray:
        """The step at which each window ends; the steps without the force count."""
        return self.equilibration + self.window * np.arange(1, len(self.windows) + 1)

    def settled(self, relaxation: float) -> list[Field]:
        """The windows that begin at least four relaxation times (in DPD time) after the force sets in.

        Raises InputError if there is none.
        """
        least = self.equilibration + SETTLED * relaxation / self.system.fluid.dt
        kept = [f for f, end in zip(self.windows, self.ends, strict=True) if end - self.window >= least]
        if not kept:
            raise InputError(
                f"{self.system.name}: {self.ends[-1]} steps end before the flow has settled and a window of "
                f"{self.window} steps has passed: choose at least {int(least) + 1 + self.window}"
            )
        return kept


def run(
    case: Poiseuille | Channel | Bulk, device, *, steps, equilibration, window, columns=1, rows=30, seed=1, **options
) -> Flow:
    """Run a case for `steps` steps in all, the first `equilibration` of them without the body force.

    Afterwards each `window` steps give one average, in `columns` x `rows` bins over the fluid's height. `options` go
    to the simulation. Raises InputError unless the driven steps are whole windows.
    """
    driven = _driven(steps, equilibration, window)
    system = _at_rest(case.system(seed), device, equilibration, seed=seed, **options)
    simulation = Simulation(system, device, seed=seed + _NEXT_SEED, **options)
    walls = system.walls
    low, high = (walls.bottom, walls.top) if isfinite(walls.top) else (0.0, system.box[2])
    averages, windows = Averages(simulation, columns=columns, rows=rows, low=low, high=high), []
    for _ in range(driven // window - 1):
        simulation.step(window, every=EVERY, observers=(averages,))
        windows.append(averages.take())
    # the last window in two pieces, between which one looks at the particles
    seen = max(EVERY, window // _SNAPSHOTS // EVERY * EVERY)
    snapshots = []
    for piece in (window - seen, seen):
        simulation.step(piece, every=EVERY, observers=(averages,))
        snapshots.append(simulation.particles()["position"])
    windows.append(averages.take())
    return Flow(system, equilibration, window, windows, tuple(snapshots), seen)


def processor(case: Poiseuille | Channel, steps: int = 100):
    """One core or all cores, whichever runs `steps` steps of a case faster: with few particles, cores mostly wait.

    The result does not depend on the number of cores.
    """

    def seconds(device) -> float:
        simulation = Simulation(case.system(1), device, strategy="planes")
        # the first step compiles
        simulation.step(1)
        return device.clock(partial(simulation.step, steps))

    return min(CpuDevice("threads"), CpuDevice("threads", workers=1), key=seconds)


def require(runs: Iterable[tuple[Poiseuille | Channel | Bulk, int]], *, equilibration: int, window: int, **_) -> None:
    """Raise InputError if one of the cases has no system, or its steps are not whole windows: before any of them runs.

    `runs` are pairs (case, steps); the rest is as for `run`.
    """
    for case, steps in runs:
        _driven(steps, equilibration, window)
        case.system(1)


def _driven(steps: int, equilibration: int, window: int) -> int:
    """The steps with the body force, which are whole windows."""
    driven = steps - equilibration
    if not (equilibration >= 0 and window > 0 and window % EVERY == 0 and driven > 0 and driven % window == 0):
        raise InputError(
            f"{steps} steps, {equilibration} of them without the force, windows of {window}: choose a window that is a "
            f"multiple of {EVERY} steps, and {equilibration} steps and some windows in all"
        )
    return driven


def _at_rest(system: System, device, steps: int, **options) -> System:
    """The system with its particles after `steps` steps without the body force."""
    simulation = Simulation(replace(system, drive=0.0), device, **options)
    simulation.step(steps)
    particles = simulation.particles()
    return replace(system, position=particles["position"], velocity=particles["velocity"])


def mean_field(windows: list[Field]) -> Field:
    """The average over windows of equal bins, each particle with the same weight."""
    count = np.array([f.density * f.samples for f in windows])
    samples, total = sum(f.samples for f in windows), count.sum(0)

    def mean(values):
        # an empty bin has no velocity, and no weight
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(count > 0, count * np.array(values), 0.0).sum(0) / total

    u, w = mean([f.velocity_x for f in windows]), mean([f.velocity_z for f in windows])
    square = mean([3 * f.temperature + f.velocity_x**2 + f.velocity_z**2 for f in windows])
    first = windows[0]
    return Field(first.x, first.z, total / samples, u, w, (square - u**2 - w**2) / 3, samples)


def scatter(profiles: list[np.ndarray]) -> float:
    """Distance of one window's profile from the mean: root mean square over windows and bins.

    Empty bins (nan) are left out. Raises InputError for fewer than two windows.
    """
    if len(profiles) < 2:
        raise InputError(f"{len(profiles)} window: the scatter between windows needs at least 2")
    return float(np.sqrt(np.nanmean(np.var(profiles, axis=0, ddof=1))))


def kinematic_viscosity(fluid: Fluid) -> float:
    """nu = eta / rho, with the viscosity eta of kinetic theory."""
    return exact.viscosity(fluid) / fluid.density


def relaxation_time(height: float, kinematic: float) -> float:
    """H^2 / (pi^2 nu): the time in which the slowest mode between two plates falls by a factor of e."""
    return height**2 / (pi**2 * kinematic)


def distances(profiles: dict[str, np.ndarray], scale: float) -> dict[str, float]:
    """The largest distance of each two profiles over `scale`, named "first and second"; empty bins (nan) left out."""
    pairs = combinations(profiles, 2)
    return {f"{a} and {b}": float(np.nanmax(np.abs(profiles[a] - profiles[b]))) / scale for a, b in pairs}
