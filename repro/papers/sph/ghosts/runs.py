"""Dam breaks with each treatment of the boundaries (figures 6 and 7), from lattices that differ a little."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pandas as pd

from repro.errors import DivergenceError
from repro.papers.sph.boundaries import NAMES
from repro.papers.sph.machines import GPU, label
from repro.sph.cases import DamBreak
from repro.sph.exact import pressure
from repro.sph.ghosts import BOUNDARIES, GAP
from repro.sph.observables import energy, front
from repro.sph.simulation import DENSITIES, Simulation
from repro.sph.system import System

from .measures import Look, distance, pair_of, same_bits

#: a seed moves each coordinate of each particle at the start by at most so many spacings
JITTER = 0.02

#: the boundaries of the paper's figures
PAIR = ("ghosts", "none")

#: looks at a run with equation 3 or 4 while it lasts
LOOKS = 10

#: what equations 3 and 4 are called
EQUATIONS = {"summation": "3 (sum)", "continuity": "4 (rate)"}


def displaced(system: System, seed: int) -> System:
    """The system with its particles moved at random by up to `JITTER` spacings along each axis."""
    moved = np.random.default_rng(seed).uniform(-JITTER, JITTER, system.position.shape)
    return replace(system, position=system.position + moved * system.resolution.spacing)


def after(system: System, device, seconds: float, **options) -> Look:
    """The water after so many seconds, to the nearest step; `options` as of Simulation."""
    simulation = Simulation(system, device, **options)
    simulation.start()
    simulation.step(round(seconds / system.dt))
    summed = simulation.summed_condensation()
    return Look(system, simulation.particles(), summed, simulation.steps * system.dt)


def sweep(case: DamBreak, device, seconds: float, seeds) -> dict[str, list[Look]]:
    """The water after so many seconds with each treatment of the boundaries by its name, and each of the seeds."""
    systems = [displaced(case.system(), seed) for seed in seeds]
    return {NAMES[name]: [after(system, device, seconds, boundary=name) for system in systems] for name in BOUNDARIES}


def unheld(case: DamBreak) -> float:
    """Seconds for which nothing holds a column without ghosts: until its lowest layer has fallen half a spacing."""
    return sqrt(case.resolution.spacing / case.fluid.gravity)


def earlier(case: DamBreak, device, seconds: float, seeds) -> pd.DataFrame:
    """Where the front is with ghosts as long before `seconds` as a column without ghosts is `unheld`.

    One row a seed: `seed` (their number), `time` in s, `front` in m; none if the run is no longer than that.
    """
    before, rows = seconds - unheld(case), []
    for number, seed in enumerate(seeds if before > 0 else ()):
        look = after(displaced(case.system(), seed), device, before, boundary=PAIR[0])
        rows.append((number, look.time, front(look.particles, look.system)))
    return pd.DataFrame(rows, columns=["seed", "time", "front"])


def columns(case: DamBreak, devices, seconds: float, seed: int) -> dict[str, dict[str, Look]]:
    """The columns of figure 7 by device, a GPU last: the water of one seed after so many seconds, by boundary."""
    system = displaced(case.system(), seed)
    found = {
        label(device): {NAMES[name]: after(system, device, seconds, boundary=name) for name in PAIR}
        for device in devices
    }
    return dict(sorted(found.items(), key=lambda column: column[0] == GPU))


def differences(compared: dict[str, dict[str, Look]]) -> pd.DataFrame:
    """How far the runs of two devices are apart at most, in spacings, and whether they have the `same bits`.

    One row a boundary, with the `time` in s.
    """
    one, other = compared.values()
    rows = [(n, one[n].time, distance(one[n], other[n]), same_bits(one[n], other[n])) for n in one]
    return pd.DataFrame(rows, columns=["boundary", "time", "distance", "same bits"])


def one_ghost(case: DamBreak) -> tuple[float, float]:
    """By how much a ghost in the air that appears as near as it may changes equation 3's density, and the pressure.

    As (rho - rho0) / rho0, and in Pa where there was rho0 before.
    """
    resolution = case.resolution
    shape, _ = resolution.smoothing_kernel.shape(float)
    share = shape(GAP / resolution.ratio) / resolution.lattice_sum
    return share, float(pressure(share, case.fluid))


def equations(case: DamBreak, device, seconds: float) -> pd.DataFrame:
    """The same water with the densities of equation 3 and of equation 4, with ghosts and without, one row each.

    Columns: equation, boundary, time (s; of the last look, less than `seconds` where the run was stopped), front (over
    the column's width), fallen (how far the centre of mass, over a free fall), gained (growth of kinetic and potential
    energy over the potential energy at the start), fastest (m/s), stopped (whether a particle or the time step stopped
    the run).
    """
    rows = [_followed(case, device, seconds, density, name) for density in DENSITIES for name in PAIR]
    return pd.DataFrame(rows)


def answer_to_a_ghost(case: DamBreak) -> dict:
    """What one ghost does by equation 3: % of density, kPa, and times the pressure at the bottom; holds if above it."""
    share, push = one_ghost(case)
    times = push / (case.fluid.density * case.fluid.gravity * case.system().depth)
    return {"share": 100 * share, "push": push / 1000, "times": times, "holds": times > 1}


def falls(table: pd.DataFrame) -> dict:
    """How far the centre fell with ghosts by equation 3 and by 4, in % of a free fall; holds if by 3 less than half."""
    rows = table[table["boundary"] == NAMES["ghosts"]].set_index("equation")["fallen"]
    locked, held = (100 * float(rows[name]) for name in EQUATIONS.values())
    return {"locked": locked, "held": held, "holds": locked < held / 2}


def broken(table: pd.DataFrame, density: str) -> bool:
    """Whether a run of `equations` with these densities was stopped, or gained a thousandth of its energy."""
    rows = table[table["equation"] == EQUATIONS[density]]
    return bool((rows["stopped"] | (rows["gained"] > 1e-3)).any())


def late_start(table: pd.DataFrame, before: pd.DataFrame, case: DamBreak) -> dict:
    """Free fall in ms, what a start so late costs and the lag of the front without ghosts in mm.

    `table` as of `measures.table`, `before` as of `earlier`. Holds if the cost is the lag, to a tenth.
    """
    ours, others = (float(values.mean()) for values in pair_of(table, "front"))
    cost, lag = ours - float(before["front"].mean()), ours - others
    return {"late": 1000 * unheld(case), "cost": 1000 * cost, "lag": 1000 * lag, "holds": cost >= 0.9 * lag}


def _followed(case: DamBreak, device, seconds: float, density: str, boundary: str) -> dict:
    system = case.system()
    simulation, stopped = Simulation(system, device, density=density, boundary=boundary), False
    simulation.start()
    first, last = energy(simulation.particles(), system), simulation.particles()
    time = 0.0
    try:
        for until in np.linspace(0, seconds, LOOKS + 1)[1:]:
            simulation.step(max(1, round(until / system.dt) - simulation.steps))
            time, last = simulation.steps * system.dt, simulation.particles()
    except DivergenceError:
        stopped = True
    found, fall = energy(last, system), system.fluid.gravity * time**2 / 2
    way = float(system.position[:, 2].mean() - last["position"][:, 2].mean())
    return {
        "equation": EQUATIONS[density],
        "boundary": NAMES[boundary],
        "time": time,
        "front": front(last, system) / case.width,
        "fallen": way / fall if time > 0 else 0.0,
        "gained": (found.kinetic + found.potential - first.kinetic - first.potential) / first.potential,
        "fastest": float(np.linalg.norm(last["velocity"], axis=1).max()),
        "stopped": stopped,
    }
