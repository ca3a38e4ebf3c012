"""Dam breaks with each treatment of the boundaries (figures 6 and 7), from lattices that differ a little."""

from dataclasses import replace

import numpy as np
import pandas as pd

from repro.papers.sph.machines import GPU, label
from repro.sph.cases import DamBreak
from repro.sph.ghosts import BOUNDARIES
from repro.sph.observables import front
from repro.sph.simulation import Simulation
from repro.sph.surface import reconstruct, roughness
from repro.sph.system import System

from .measures import NAMES, Look, distance, same_bits

#: a seed moves each coordinate of each particle at the start by at most so many spacings
JITTER = 0.02

#: the boundaries of the paper's figures
PAIR = ("ghosts", "none")

#: looks at a front until it has come as far as another
LOOKS = 60


def displaced(system: System, seed: int) -> System:
    """The system with its particles moved at random by up to `JITTER` spacings along each axis."""
    moved = np.random.default_rng(seed).uniform(-JITTER, JITTER, system.position.shape)
    return replace(system, position=system.position + moved * system.resolution.spacing)


def after(system: System, device, seconds: float, **options) -> Look:
    """The water after so many seconds, to the nearest step; `options` as of Simulation."""
    simulation = Simulation(system, device, **options)
    simulation.start()
    simulation.step(round(seconds / system.dt))
    return _look(simulation)


def _look(simulation: Simulation) -> Look:
    summed, time = simulation.summed_condensation(), simulation.steps * simulation.system.dt
    return Look(simulation.system, simulation.particles(), summed, time, simulation.air_samples)


def sweep(case: DamBreak, device, seconds: float, seeds) -> dict[str, list[Look]]:
    """The water after so many seconds with each treatment of the boundaries by its name, and each of the seeds."""
    systems = [displaced(case.system(), seed) for seed in seeds]
    return {NAMES[name]: [after(system, device, seconds, boundary=name) for system in systems] for name in BOUNDARIES}


def equal_fronts(looks: dict[str, list[Look]], device) -> pd.DataFrame:
    """The roughness of the surface with ghosts when the front is where it is without them, one row a seed.

    Columns: seed (their number), time (s, with ghosts), front (m), ours and others (spacings, with ghosts and without).
    """
    rows = []
    for number, other in enumerate(looks[NAMES["none"]]):
        simulation, goal = Simulation(other.system, device), front(other.particles, other.system)
        simulation.start()
        portion = max(1, round(other.time / other.system.dt / LOOKS))
        while front(simulation.particles(), other.system) < goal and simulation.steps * other.system.dt < other.time:
            simulation.step(portion)
        found, system = simulation.particles(), other.system
        rough = [roughness(reconstruct(position, system), system) for position in (found["position"], other.position)]
        rows.append((number, simulation.steps * system.dt, front(found, system), *rough))
    return pd.DataFrame(rows, columns=["seed", "time", "front", "ours", "others"])


def columns(case: DamBreak, devices, seconds: float, seed: int) -> dict[str, dict[str, Look]]:
    """The columns of figure 7 by device, a GPU last: the water of one seed after so many seconds, by boundary."""
    system, found = displaced(case.system(), seed), {}
    for device in devices:
        found[label(device)] = {NAMES[name]: after(system, device, seconds, boundary=name) for name in PAIR}
    return dict(sorted(found.items(), key=lambda column: column[0] == GPU))


def differences(compared: dict[str, dict[str, Look]]) -> pd.DataFrame:
    """How far the runs of two devices are apart at most, in spacings, and whether they have the `same bits`.

    One row a boundary, with the two `devices` and the `time` in s.
    """
    one, other = compared.values()
    names = " and ".join(compared)
    rows = [(n, names, one[n].time, distance(one[n], other[n]), same_bits(one[n], other[n])) for n in one]
    return pd.DataFrame(rows, columns=["boundary", "devices", "time", "distance", "same bits"])
