"""A kernel as it runs can be read: its loop, and every function that is inlined into it, once."""

import ast

import numpy as np
import pytest
from helpers.pic_systems import crowd
from helpers.sph_systems import shaken

from repro.dpd.cases import Bulk
from repro.dpd.simulation import Simulation as Particles
from repro.errors import InputError
from repro.lbm.boundaries import PERIODIC_BOX
from repro.lbm.lattice import D2Q9
from repro.lbm.model import Model, Problem
from repro.lbm.simulation import Simulation as Flow
from repro.parallel import Kernel, device_function
from repro.pic.simulation import Simulation as Electrons
from repro.sph.simulation import Simulation as Water


def names_of(text: str) -> list[str]:
    """The names of the functions of a text that is Python, none of them twice."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    texts = [ast.unparse(function) for function in functions]
    assert len(set(texts)) == len(texts)
    return [function.name for function in functions]


def flow(device):
    problem = Problem(Model(D2Q9, PERIODIC_BOX), (4, 4, 1), relaxation_time=0.8)
    return Flow(problem, device, strategy="push")


def particles(device):
    return Particles(Bulk((4, 4, 4)).system(), device)


def water(device):
    return Water(shaken(water=(2, 2, 2)), device)


def electrons(device):
    return Electrons(crowd(), device)


#: where an equation of each method stands
EQUATIONS = {
    flow: "repro.lbm.equilibrium",
    particles: "repro.dpd.forces",
    water: "repro.sph.equations",
    electrons: "repro.pic.motion.push",
}


@pytest.mark.parametrize("make", EQUATIONS, ids=lambda make: make.__name__)
def test_the_kernels_of_a_step_are_shown_with_their_equations_each_once(device, make):
    text = make(device).source()
    assert names_of(text)[0] == ("kernel" if device.name == "cuda" else "loop")
    assert f"# {EQUATIONS[make]}" in text
    assert "# Generated: " in text


def test_the_kernels_of_one_part_are_shown_alone(threads):
    simulation = particles(threads)
    assert EQUATIONS[particles] not in simulation.source("drift")
    with pytest.raises(InputError, match="part = 'forced': must be one of drift, "):
        simulation.source("forced")


def scaled(factor, table):
    """Returns a body that multiplies."""

    @device_function
    def product(value, k):
        """Equation 7."""
        return value * factor * table[k]

    return product


def test_functions_are_shown_in_the_order_of_their_calls_with_what_they_close_over(device):
    first, second = scaled(np.float32(2.5), tuple(range(20))), scaled(np.float32(3), np.ones(5))

    @device_function
    def body(x, n, values):
        for i in range(x, x + n):
            values[i] = second(first(values[i], 1), 2)

    text = device.source(device.compile(Kernel(body))((3,), device.zeros(3, np.float32)))
    assert names_of(text)[1:] == ["body", "product"]
    assert text.index("factor = 3.0") < text.index("factor = 2.5")
    assert "#     table = (0, 1, 2, 3, 4, 5, 6, 7, 8, ...)\n# (the text is the one above)" in text
    assert "#     table = an array of float64 of the shape (5,)" in text
    assert "#     first = product of " in text
    assert text.count(": Equation 7.") == 2
