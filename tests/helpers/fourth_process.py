"""Electrons in air with one more process, written as a user would: prints as JSON what tables and tallies make of it.

An excitation takes 100 eV as often as once in a millimetre, and leaves the direction. Nothing is compiled.
"""

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from helpers.plain import PlainDevice
from repro.pic import air
from repro.pic.constants import REST_ENERGY

_EXCITATION = f"""
TAKEN, RATE = {100 / REST_ENERGY!r}, 1e3

import numpy as np
from repro.parallel import device_function
from .kinematics import with_energy

SECONDARY, ENERGY = False, "lost"

def candidates(tau, cut, air):
    return np.full_like(tau, RATE, float)

def loss(tau, cut, air):
    return np.full_like(tau, -RATE * TAKEN, float)

def make_outcome(real):
    zero = real(0)

    @device_function
    def outcome(u, u2, tau, key, event, cut):
        return True, with_energy(u, u2, tau - real(TAKEN)), (zero, zero, zero)

    return outcome
"""


def add(name: str, source: str) -> None:
    """A module of the air, from a source."""
    module = ModuleType(f"{air.__name__}.{name}")
    module.__package__ = air.__name__
    sys.modules[module.__name__] = module
    exec(source, module.__dict__)
    setattr(air, name, module)


def main():
    add("one_more", _EXCITATION)
    source = (Path(air.__file__).parent / "processes.py").read_text()
    named = r"from . import one_more\nPROCESSES = (\1, one_more)"
    source, times = re.subn(r"^PROCESSES = \((.*)\)", named, source, flags=re.MULTILINE)
    assert times == 1
    add("processes", source)

    from repro.pic.air.collision_tables import Collisions
    from repro.pic.air.infinite_air import fly
    from repro.pic.mesh import Mesh
    from repro.pic.simulation import Simulation
    from repro.pic.system import Electrons, System

    track = fly(Collisions(), np.full(30, 1e4), PlainDevice(), length=1e-3, precision="double")
    mesh, momentum = Mesh((2, 2, 2), (1e-3,) * 3), np.tile([0.2, 0.0, 0.0], (10, 1))
    electrons = Electrons(np.full((10, 3), 1e-3), momentum, np.full(10, 1.0))
    simulation = Simulation(
        System(mesh, 1e-12, electrons, air=Collisions(), self_field=False), PlainDevice(), precision="double"
    )
    before = kinetic(simulation)
    simulation.step(5)
    found = {"collisions": track["collisions"].sum(0).tolist(), "tallies": simulation.tallies()}
    print(json.dumps(found | {"taken": before - kinetic(simulation), "stopping": stopping(Collisions())}))


def kinetic(simulation) -> float:
    """Kinetic energy in J of those that are there."""
    from repro.pic.observables import kinetic_energy

    found = simulation.particles()
    return kinetic_energy(found["momentum"], found["weight"])


def stopping(collisions) -> float:
    """The continuous loss and that by the excitations at 10 keV, in eV a metre."""
    return float(REST_ENERGY * collisions.restricted_stopping(1e4 / REST_ENERGY)) + 1e5


if __name__ == "__main__":
    main()
