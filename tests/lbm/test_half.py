"""Populations kept in half precision: half the bytes, computed in single precision."""

from itertools import product

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.lbm.boundaries import Boundaries
from repro.lbm.cases import Duct
from repro.lbm.lattice import D2Q9, D3Q15, D3Q19
from repro.lbm.model import Model, Problem
from repro.lbm.node import Specialisation, make_wall_rules
from repro.lbm.simulation import Simulation
from repro.lbm.storage import HALF_UNIT
from repro.lbm.strategies import ALL, IN_HALF
from repro.parallel import Kernel, device_function, from_half, select, to_half

#: a number of half precision is off by at most this share of itself
ROUNDING = 2.0**-11

P, H, M, S, E = "periodic", "half-way", "modified", "standard", "extrapolation"

#: lattice, faces and moving face
BOXES = {
    "closed": (D3Q19, (S,) * 6, 3),
    "lid": (D2Q9, (H, H, H, H, P, P), 3),
    "duct": (D3Q15, (P, P, E, E, E, E), None),
    "channel": (D2Q9, (P, P, M, M, P, P), None),
}
LEAKS = Boundaries((H, H, H, E, P, P), 3)


def problem_of(box: str) -> Problem:
    """A box, driven by a force and a lid."""
    lattice, faces, moving = BOXES[box]
    speed = (0.05, 0.0, 0.0) if moving else (0.0, 0.0, 0.0)
    shape, model = (9, 6, 4 if lattice.dimensions == 3 else 1), Model(lattice, Boundaries(faces, moving), "bgk", "guo")
    return Problem(model, shape, 0.8, force=(1e-3, 0.0, 0.0), wall_velocity=speed)


def random_populations(problem):
    """Populations up to a tenth from the rest state."""
    noise = np.random.default_rng(1).uniform(-0.1, 0.1, (problem.lattice.q, *problem.shape[::-1]))
    return np.array(problem.lattice.weights)[:, None, None, None] * (1 + noise)


@device_function
def halved(x, n, bits, doubled):
    """A kernel's body: twice each number."""
    for k in range(x, x + n):
        doubled[k] = to_half(from_half(bits[k]) * np.float32(2))


def test_kernels_read_and_write_half_precision_as_numpy_does(device):
    # a simulated thread takes a millisecond
    few = device.name == "cuda" and device.simulated
    bits = np.arange(0, 1 << 16, 511 if few else 1).astype(np.uint16)
    bits = bits[~np.isnan(bits.view(np.float16))]
    given, result = device.to_device(bits), device.zeros(bits.size, np.uint16)
    device.compile(Kernel(halved))((bits.size,), given, result)()
    with np.errstate(over="ignore"):
        expected = (2 * bits.view(np.float16).astype(np.float32)).astype(np.float16)
    # fast arithmetic knows no infinity
    found, finite = device.to_host(result).view(np.float16), np.isfinite(expected)
    assert (found[finite] == expected[finite]).all()


@pytest.mark.parametrize("layout", ["soa", "aos"])
@pytest.mark.parametrize(("box", "strategy"), list(product(BOXES, IN_HALF[:-1])))
def test_a_flow_in_half_precision_is_that_in_double_but_for_its_rounding(wide_device, box, strategy, layout):
    problem = problem_of(box)
    flows = [
        Simulation(problem, wide_device, strategy=strategy, layout=layout, precision=precision)
        for precision in ("double", "half")
    ]
    for simulation in flows:
        simulation.set_populations(random_populations(problem))
        simulation.step(3)
    (density, velocity), (kept_density, kept_velocity) = (simulation.fields() for simulation in flows)
    # each of four roundings is off by that share of deviations below a tenth of the weights, which sum up to one
    limit = 4 * ROUNDING * 0.1
    assert 0 < np.abs(kept_velocity - velocity).max() < limit
    assert np.abs(kept_density - density).max() < limit
    assert flows[1].memory < 0.6 * flows[0].memory
    assert 2 * flows[1].bytes_per_update == flows[0].bytes_per_update / 2


def test_a_flow_in_half_precision_is_alike_on_all_processors():
    problem, found = problem_of("closed"), []
    for name in ("serial", "threads"):
        simulation = Simulation(problem, select(name), precision="half")
        simulation.set_populations(random_populations(problem))
        simulation.step(3)
        found.append(simulation.fields()[1])
    assert np.abs(found[0] - found[1]).max() <= ROUNDING * np.abs(found[0]).max()


def test_populations_that_half_precision_holds_come_back_as_they_were_set(wide_device):
    problem = problem_of("closed")
    simulation = Simulation(problem, wide_device, precision="half")
    weights = np.array(problem.lattice.weights)[:, None, None, None]
    deviations = np.random.default_rng(2).integers(-2047, 2048, (19, 4, 6, 9)) * HALF_UNIT
    simulation.set_populations(weights + deviations)
    np.testing.assert_allclose(simulation.populations() - weights, deviations, rtol=0, atol=1e-15)
    assert simulation.mean_density() == pytest.approx(1 + deviations.sum() / problem.nodes, abs=1e-14)


@pytest.mark.parametrize("strategy", [name for name in ALL if name not in IN_HALF])
def test_strategies_that_know_no_half_precision_say_so(strategy):
    with pytest.raises(InputError, match="knows no half precision: choose one of pull"):
        Simulation(problem_of("closed"), select("serial"), strategy=strategy, precision="half")


def test_a_wall_that_leaks_mass_is_refused_in_half_precision():
    with pytest.raises(InputError, match="cannot restore the mass"):
        Simulation(Problem(Model(D2Q9, LEAKS), (9, 5, 1), 0.8), select("serial"), precision="half")


def test_a_run_to_a_steady_flow_is_refused_in_half_precision():
    flow = Simulation(Duct(nodes=6).problem, PlainDevice(), precision="half")
    with pytest.raises(InputError, match="^in half precision a flow stands still before it is steady: use 'single'"):
        flow.run_to_steady_state(limit=10)
    assert flow.steps == 0


def test_what_nothing_feels_in_the_walls_of_a_cavity_stays_within_half_precision():
    """Between the lid and the walls beside it populations go to and fro, and gain momentum each time."""
    problem, found = problem_of("closed"), {}
    grid, _, force, wall = problem.parameters(np.float32)
    for half in (False, True):
        before, _ = make_wall_rules(Specialisation(problem.model, np.float32, half=half))
        populations = np.zeros((problem.lattice.q + 5, 1), np.float32)
        for _ in range(1000):
            assert not before(populations, 1, 3, grid.ny - 1, 2, grid, force, wall)
        found[half] = np.abs(populations[: problem.lattice.q]).max()
    assert found[False] > 4
    assert found[True] == 1


def test_a_slow_flow_keeps_its_digits_in_half_precision(threads):
    """Its deviations, a few 1e-5, would be subnormals of three digits if they were kept as they are."""
    speeds = []
    for precision in ("double", "half"):
        simulation = Simulation(Duct(nodes=10, walls="half-way").problem, threads, precision=precision)
        simulation.step(400)
        speeds.append(simulation.fields()[1])
    assert 0 < np.abs(speeds[1] - speeds[0]).max() < 0.02 * np.abs(speeds[0]).max()
