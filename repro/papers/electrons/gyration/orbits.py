"""Orbits in a constant magnetic field, by the solver itself: radius and phase over many turns, and faces of cells."""

from math import ceil, pi

import numpy as np
import pandas as pd

from repro.declared import Number
from repro.errors import require_whole
from repro.parallel import require_room
from repro.pic import exact
from repro.pic.cases import DRAWN
from repro.pic.constants import CHARGE, LIGHT, MASS, SMALLEST
from repro.pic.mesh import Mesh
from repro.pic.motion.push import LARGEST_TURN
from repro.pic.simulation import Simulation
from repro.pic.system import Electrons, System

#: direction of the magnetic field, along no axis of the mesh
AXIS = np.array([2.0, -3.0, 6.0]) / 7

#: the way of light in a step, in cells
_COURANT = 0.5

#: in double precision: errors of the radius (relative) and of the phase (radians) that are allowed
RADIUS_ERROR, PHASE_ERROR = 1e-10, 1e-8


def one_electron(energy: float, turn: float) -> System:
    """An electron of `energy` eV that goes round 0.1 T across it, `turn` radians a step.

    A fast one turns by less, so that a slow one in the same field would turn by no more than a step may.
    """
    Number(SMALLEST, unit="eV").check("energy", energy)
    Number(SMALLEST, LARGEST_TURN, "radians a step").check("turn", turn)
    momentum, field = float(exact.momentum_of(energy)), 0.1
    turn = min(turn, 0.99 * LARGEST_TURN / float(exact.lorentz_factor(momentum)))
    dt = turn / float(exact.gyration_frequency(momentum, field))
    mesh = Mesh((4, 4, 4), (LIGHT * dt / _COURANT,) * 3)
    ahead = np.cross(AXIS, (1.0, 0, 0))
    electron = Electrons([np.array(mesh.length) / 2], [momentum * ahead / np.linalg.norm(ahead)], [1.0])
    return System(mesh, dt, electron, magnetic=tuple(field * AXIS), self_field=False, name=f"{energy:g} eV")


def deviation(system: System, particles, time: float) -> np.ndarray:
    """How far particles are from their helices in m, (count, 3); the box is periodic."""
    start = system.electrons
    place, _ = exact.helix(start.position, start.momentum, system.magnetic, time)
    length = np.array(system.mesh.length)
    off = particles["position"] - place
    return off - length * np.round(off / length)


def turns(energy: float, turn: float, count: float, device, precision: str) -> pd.DataFrame:
    """Errors of an electron that is followed for `count` turns; one row a look.

    The phase's in radians, with what it would be by Boris' rotation; those of the radius and the energy are relative.
    """
    Number(SMALLEST).check("count of turns", count)
    system = one_electron(energy, turn)
    simulation, rows = Simulation(system, device, precision=precision), []
    momentum, field = (float(np.linalg.norm(vector)) for vector in (system.electrons.momentum, system.magnetic))
    turn = float(exact.gyration_frequency(momentum, field)) * system.dt
    radius = float(exact.gyration_radius(momentum, field))
    # ten looks
    for steps in np.linspace(0, ceil(count * 2 * pi / turn), 11).astype(int)[1:]:
        simulation.step(int(steps) - simulation.steps)
        found = simulation.particles()
        _, ahead = exact.helix([[0, 0, 0]], system.electrons.momentum, system.magnetic, simulation.time)
        ahead = ahead[0] / momentum
        # from the centre to the electron; it goes round with AXIS as its thumb
        outward = -np.cross(AXIS, ahead)
        there = radius * outward + deviation(system, found, simulation.time)[0]
        there -= AXIS * (AXIS @ there)
        size = np.linalg.norm(found["momentum"])
        row = {"turns": steps * turn / (2 * pi), "radius": np.linalg.norm(there) / radius - 1}
        row |= {"phase": np.arctan2(there @ ahead, there @ outward)}
        row |= {"Boris": steps * turn * float(exact.boris_phase_error(turn))}
        rows.append(row | {"energy": _rise(size) / _rise(momentum) - 1, "steps": int(steps)})
    return pd.DataFrame(rows)


def _rise(momentum: float) -> float:
    """gamma - 1."""
    return momentum**2 / (1 + exact.lorentz_factor(momentum))


def summary(runs: dict[tuple[float, str], pd.DataFrame]) -> pd.DataFrame:
    """The largest errors of `turns` by energy in eV and precision, one row each."""
    errors = ["radius", "phase", "energy", "Boris"]
    rows = [(*key, table["steps"].iloc[-1], *table[errors].abs().max()) for key, table in runs.items()]
    names = ["radius error", "phase error", "energy error", "phase error of Boris"]
    table = pd.DataFrame(rows, columns=["energy (keV)", "precision", "steps", *names])
    return table.assign(**{"energy (keV)": table["energy (keV)"] / 1e3})


def crowd(count: int, turn: float) -> System:
    """Electrons slow and fast, in all directions, all over a small periodic box; rest turns `turn` radians a step."""
    require_room(count, DRAWN)
    generator = np.random.default_rng(1)
    mesh = Mesh((4, 5, 3), (1e-3, 1.1e-3, 0.9e-3))
    dt = _COURANT * min(mesh.spacing) / LIGHT
    momentum = generator.normal(0, 1, (count, 3)) * np.where(generator.random(count) < 0.5, 0.3, 3)[:, None]
    position = generator.random((count, 3)) * mesh.length
    field = turn * MASS / (CHARGE * dt) * AXIS
    electrons = Electrons(position, momentum, np.ones(count))
    return System(mesh, dt, electrons, magnetic=tuple(field), self_field=False, name="crowd")


def crossings(system: System, steps: int) -> float:
    """About how many faces electrons on their helices meet: the mean speeds across faces, over a turn."""
    start, phases = system.electrons, 64
    size = np.linalg.norm(start.momentum, axis=1)
    turn = 2 * pi / exact.gyration_frequency(size, np.linalg.norm(system.magnetic))
    speed = np.zeros(3)
    for k in range(phases):
        # each electron at its own share of a turn
        times = turn[:, None] * k / phases
        _, momentum = exact.helix(start.position, start.momentum, system.magnetic, times)
        speed += LIGHT * np.abs(momentum / exact.lorentz_factor(size)[:, None]).sum(0) / phases
    return float((speed / system.mesh.spacing).sum() * steps * system.dt)


def leaks(count: int, turn: float, steps: int, device) -> dict[str, dict]:
    """Let a crowd fly through many faces in each precision.

    Each: crossings (about), counted (particles at the end), lost (ids that are missing), and distance (of each from its
    helix, in cells).
    """
    require_whole("particles of the crowd", count, 1, 10**8)
    require_whole("steps of the crowd", steps, 1, 10**6)
    system, found = crowd(count, turn), {}
    for precision in ("double", "single"):
        simulation = Simulation(system, device, precision=precision)
        simulation.step(steps)
        particles = simulation.particles()
        off = deviation(system, particles, simulation.time) / system.mesh.spacing
        found[precision] = {
            "crossings": crossings(system, steps),
            "counted": len(particles["ids"]),
            "lost": count - len(np.unique(particles["ids"])),
            "distance": np.abs(off).max(1),
        }
    return found
