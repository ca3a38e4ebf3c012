"""From an equation to the kernel that is launched there are at most four steps: in vacuum, at faces and in air."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.pic_systems import crowd
from helpers.steps import Recorder, steps

from repro.pic.air.collision_tables import Collisions
from repro.pic.air.infinite_air import make_follow_kernel
from repro.pic.simulation import Simulation
from repro.pic.strategies import STRATEGIES

#: the equations of each module, by the names of its functions
EQUATIONS = {
    "advance": ("kicked",),
    "air.bremsstrahlung": ("energy",),
    "air.collision_tables": ("look_ahead", "slow_down"),
    "air.elastic": ("angle",),
    "air.ionisation": ("acceptance", "ejection", "transfer"),
    "air.kinematics": ("energy_of", "turned", "with_energy"),
    "deposition": ("charge", "edge_weights"),
    "gather": ("electric_at", "magnetic_at"),
    "motion.push": ("fly", "momentum", "moved", "orbit_of", "rate"),
}
NAMED = {(f"repro.pic.{module}", name) for module, names in EQUATIONS.items() for name in names}

#: functions that a kernel's body enters on its way to an equation, which is the last of them
MOST, WITH_A_WINDOW = 3, 4


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_equation_is_at_most_four_functions_below_its_kernel(name):
    for medium in STRATEGIES[name].media:
        device = Recorder()
        device.name = "serial" if name == "batches" else "cuda"
        Simulation(replace(crowd(), air=Collisions() if medium == "air" else None), device, strategy=name)
        # a block's window of currents is around the body of those that have none
        most = WITH_A_WINDOW if name == "tiles" else MOST
        assert max(steps(body, NAMED) for body in device.bodies) == most


def test_a_collision_is_as_near_to_its_kernel_in_endless_air():
    assert steps(make_follow_kernel(np.float32), NAMED) == MOST


@pytest.mark.parametrize("module", EQUATIONS)
def test_each_equation_is_on_the_way_of_some_kernel(module):
    devices = [Recorder(), Recorder()]
    Simulation(crowd(), devices[0], strategy="global sums")
    Simulation(replace(crowd(), air=Collisions()), devices[1], strategy="in air")
    for name in EQUATIONS[module]:
        equation = {(f"repro.pic.{module}", name)}
        assert max(steps(body, equation) for device in devices for body in device.bodies) > 0, name
