"""From an equation to the kernel that is launched there are at most four functions, in every kind of flow."""

import numpy as np
import pytest
from helpers.steps import Recorder, steps

from repro.errors import InputError
from repro.lbm import equilibrium
from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D3Q19
from repro.lbm.media import PoreSpace
from repro.lbm.model import Model, Problem
from repro.lbm.porous.problem import STORAGES, PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.simulation import Simulation
from repro.lbm.strategies import ALL, STRATEGIES
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.simulation import TwoFluidFlow

PERIODIC, CLOSED = ("periodic",) * 2, ("standard",) * 2
ROCK = PoreSpace(np.random.default_rng(1).random((4, 4, 32)) < 0.3)

EQUATIONS = {(equilibrium.__name__, name) for name in ("even", "odd")}

#: steps from an equation to its kernel
MOST = 4


def flows():
    """(name, class, problem, strategy) of every strategy with what makes its way to a kernel longest."""
    rock = ROCK.solid
    for faces in ((*PERIODIC, *CLOSED, *CLOSED), CLOSED * 3, (*PERIODIC, "modified", "modified", *PERIODIC)):
        for collision in ("trt", "mrt"):
            problem = Problem(Model(D3Q19, Boundaries(faces, 3), collision, "guo"), ROCK.shape, 1.0, solid=rock)
            yield from ((Simulation, problem, name) for name in ALL if name in STRATEGIES or set(faces) == {"standard"})
    for storage in STORAGES:
        problem = PorousProblem(ROCK, 1.0, (1e-4, 0.0, 0.0), storage=storage)
        yield from ((PorousFlow, problem, name) for name in PorousFlow.STRATEGIES)
    for collision in ("bgk", "mrt"):
        yield from ((TwoFluidFlow, TwoFluids(ROCK, 0.1, collision=collision), name) for name in TwoFluidFlow.STRATEGIES)


@pytest.mark.parametrize("kind", [Simulation, PorousFlow, TwoFluidFlow])
def test_an_equation_is_at_most_four_functions_away_from_its_kernel(kind):
    found = {}
    for flow, problem, strategy in flows():
        device = Recorder()
        if flow is kind:
            try:
                flow(problem, device, strategy=strategy, block=32)
            except InputError:
                # a sweep is for one core
                continue
            found[strategy] = max(found.get(strategy, 0), *(1 + steps(body, EQUATIONS) for body in device.bodies))
    assert found.keys() >= (STRATEGIES if kind is Simulation else kind.STRATEGIES).keys()
    assert set(found.values()) == {MOST}
