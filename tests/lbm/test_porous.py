"""Every strategy for porous media against rolling whole NumPy arrays, over random and nasty geometries."""

import numpy as np
import pytest
from helpers.lbm_reference import PorousReference
from helpers.plain import PlainDevice
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from repro.lbm import plain
from repro.lbm.lattice import D2Q9, D3Q15, D3Q19
from repro.lbm.media import PoreSpace
from repro.lbm.porous.neighbour_list import list_neighbours
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.run_length_neighbour_list import MOST_BYTES, as_runs, source
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.porous.strategies import STRATEGIES
from repro.parallel import select

#: some steps of some tens of operations on numbers of order one
ROUNDING = {"double": 1e-13, "single": 5e-6}

FORCE = (2e-4, -1e-4, 3e-4)

#: modified walls read one place twice, which cannot be done in place
POSSIBLE = [(name, walls) for name in STRATEGIES for walls in ("half-way", "modified") if name != "sparse in place"]
POSSIBLE.append(("sparse in place", "half-way"))


def problem_of(solid, collision="trt", walls="half-way", **options):
    return PorousProblem(PoreSpace(np.asarray(solid, bool)), 0.8, FORCE, collision, walls=walls, **options)


def random_populations(shape, seed=1, lattice=D3Q19):
    weights = np.array(lattice.weights)[:, None, None, None]
    return weights * (1 + 0.1 * np.random.default_rng(seed).uniform(-1, 1, (lattice.q, *shape)))


def assert_same_flow(problem, device, steps=3, **options):
    """Strategy and reference have the same density and velocity before and after each step, from random populations."""
    flow = PorousFlow(problem, device, **{"precision": "double", **options})
    populations = random_populations(problem.space.solid.shape, lattice=problem.lattice)
    flow.set_populations(populations)
    reference = PorousReference(problem, populations)
    tolerance = ROUNDING[flow.precision]
    for count in range(steps + 1):
        flow.step(min(count, 1))
        reference.step(min(count, 1))
        (rho, u), (expected_rho, expected_u) = flow.fields(), reference.fields()
        np.testing.assert_allclose(rho, expected_rho, rtol=0, atol=tolerance)
        np.testing.assert_allclose(u, expected_u, rtol=0, atol=tolerance)
    return flow


def image(shape, seed, porosity):
    return np.random.default_rng(seed).uniform(0, 1, shape) > porosity


def throat(shape=(4, 4, 6)):
    """A channel along x that narrows to one node."""
    solid = np.zeros(shape, bool)
    solid[0] = solid[:, 0] = True
    solid[:, :, 3] = True
    solid[2, 2, 3] = False
    return solid


def isolated(shape=(4, 4, 4)):
    """One pore, closed on all sides, and a plane of pores elsewhere."""
    solid = np.ones(shape, bool)
    solid[1, 1, 1] = False
    solid[3] = False
    return solid


def slit(axis, shape=(3, 4, 5)):
    """A wall one node thick at the periodic edge."""
    solid = np.zeros(shape, bool)
    solid[(slice(None),) * axis + (0,)] = True
    return solid


GEOMETRIES = {
    "no solid": np.zeros((3, 4, 5), bool),
    "one-node throat": throat(),
    "isolated pore": isolated(),
    "one pore": ~np.eye(1, 27, 13, dtype=bool).reshape(3, 3, 3),
    "one solid node": np.eye(1, 27, 0, dtype=bool).reshape(3, 3, 3),
    "checkerboard": np.indices((4, 4, 4)).sum(0) % 2 == 1,
    "wall at x = 0": slit(2),
    "wall at y = 0": slit(1),
    "wall at z = 0": slit(0),
    "one node wide": np.array([[[False, False, True, False]]]),
    "random": image((4, 5, 6), 3, 0.6),
}


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize(("strategy", "walls"), POSSIBLE)
def test_strategies_stream_collide_and_bounce_back_as_the_reference(wide_device, strategy, walls, geometry):
    assert_same_flow(problem_of(GEOMETRIES[geometry], walls=walls), wide_device, strategy=strategy, block=4)


@pytest.mark.parametrize("lattice", [D2Q9, D3Q15, D3Q19], ids=lambda lattice: lattice.name)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_plain_step_of_the_notebooks_is_that_of_the_reference(lattice, geometry):
    solid = GEOMETRIES[geometry][:1] if lattice is D2Q9 else GEOMETRIES[geometry]
    if solid.all():
        pytest.skip("no pore in this layer")
    problem = PorousProblem(PoreSpace(solid), 0.8, (0.0, 0.0, 0.0), "bgk", lattice=lattice)
    populations = random_populations(solid.shape, lattice=lattice)
    # the reference holds what has arrived, the plain step what has collided
    reference, collided = PorousReference(problem, populations), plain.bgk_collision(lattice, populations, 0.8)
    for _ in range(3):
        reference.step(1)
        rho, u = plain.moments(lattice, plain.stream(lattice, collided, solid))
        collided = plain.step(lattice, collided, solid, 0.8)
        expected_rho, expected_u = reference.fields()
        np.testing.assert_allclose(rho[~solid], expected_rho[~solid], rtol=1e-13)
        np.testing.assert_allclose(u[:, ~solid], expected_u[:, ~solid], rtol=0, atol=1e-13)


@pytest.mark.parametrize("geometry", ["no solid", "one-node throat", "random"])
@pytest.mark.parametrize("strategy", ["flag word", "sparse"])
def test_the_plain_step_with_a_body_force_is_that_of_the_strategies(strategy, geometry):
    solid = GEOMETRIES[geometry]
    problem = PorousProblem(PoreSpace(solid), 0.8, FORCE, "bgk")
    flow = PorousFlow(problem, PlainDevice(), strategy=strategy, precision="double")
    # a flow is given what has arrived, the plain step what has collided
    collided = random_populations(solid.shape)
    flow.set_populations(plain.stream(D3Q19, collided, solid))
    for _ in range(3):
        flow.step(1)
        collided = plain.driven_step(D3Q19, collided, solid, 0.8, FORCE)
        rho, u = plain.moments(D3Q19, plain.stream(D3Q19, collided, solid))
        (found_rho, found_u), half = flow.fields(), np.reshape(FORCE, (3, 1)) / 2
        np.testing.assert_allclose(found_rho[~solid], rho[~solid], rtol=1e-13)
        np.testing.assert_allclose(found_u[:, ~solid], u[:, ~solid] + half / rho[~solid], rtol=0, atol=1e-13)


shapes = st.tuples(*[st.integers(1, 5)] * 3)


@settings(max_examples=8, deadline=None)
@given(shape=shapes, seed=st.integers(0, 999), porosity=st.floats(0.1, 1.0))
@pytest.mark.parametrize(("strategy", "walls"), POSSIBLE)
def test_random_geometries_flow_as_the_reference(wide_device, strategy, walls, shape, seed, porosity):
    solid = image(shape, seed, porosity)
    assume(not solid.all())
    assert_same_flow(problem_of(solid, walls=walls), wide_device, steps=2, strategy=strategy, block=4)


@settings(max_examples=12, deadline=None)
@given(shape=st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(1, 300)), seed=st.integers(0, 999))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_random_geometries_flow_as_the_reference_in_runs_of_nodes(threads, strategy, shape, seed):
    solid = image(shape, seed, 0.7)
    assume(not solid.all())
    assert_same_flow(problem_of(solid, "mrt"), threads, steps=2, strategy=strategy)


@pytest.mark.parametrize(("strategy", "walls"), POSSIBLE)
@pytest.mark.parametrize(("lattice", "shape"), [(D2Q9, (1, 6, 7)), (D3Q15, (4, 4, 5))], ids=["D2Q9", "D3Q15"])
def test_obstacles_between_plates_on_other_lattices_flow_as_the_reference(wide_device, lattice, shape, strategy, walls):
    solid = image(shape, 5, 0.8)
    solid[:, [0, -1]] = True
    force = (2e-4, -1e-4, 0.0 if lattice is D2Q9 else 3e-4)
    problem = PorousProblem(PoreSpace(solid), 0.8, force, "trt", walls=walls, lattice=lattice)
    assert_same_flow(problem, wide_device, strategy=strategy, block=4)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_node_by_node_is_the_same_flow(strategy):
    assert_same_flow(problem_of(image((4, 5, 6), 3, 0.6), "mrt"), select("serial"), steps=3, strategy=strategy)


@pytest.mark.parametrize("options", [{"precision": "single"}, {}])
@pytest.mark.parametrize("forcing", ["luo", "guo"])
def test_precision_and_forcing_do_not_change_the_flow(wide_device, forcing, options):
    problem = problem_of(throat(), "bgk", forcing=forcing)
    for strategy in ("sparse", "sparse in place"):
        assert_same_flow(problem, wide_device, steps=2, strategy=strategy, **options)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_mass_in_the_pores_is_conserved(cuda_device, strategy):
    problem = problem_of(image((3, 4, 3), 7, 0.7))
    flow = PorousFlow(problem, cuda_device, strategy=strategy, precision="double")
    flow.set_populations(random_populations((3, 4, 3)))
    before = flow.fields()[0].sum()
    flow.step(2)
    assert flow.fields()[0].sum() == pytest.approx(before, rel=1e-13)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_fluid_at_rest_without_force_stays_at_rest(wide_device, strategy):
    problem = PorousProblem(PoreSpace(throat()), 0.8, (0.0, 0.0, 0.0))
    flow = PorousFlow(problem, wide_device, strategy=strategy)
    flow.step(3)
    rho, u = flow.fields()
    np.testing.assert_array_equal(rho, 1)
    np.testing.assert_array_equal(u, 0)


@settings(max_examples=25, deadline=None)
@given(
    shape=st.tuples(*[st.integers(1, 9)] * 2, st.integers(1, 70)), seed=st.integers(0, 99), porosity=st.floats(0.2, 1)
)
def test_the_map_as_runs_is_the_map(threads, shape, seed, porosity):
    solid = image(shape, seed, porosity)
    assume(not solid.all())
    pores = list_neighbours(problem_of(solid), threads, reverse=True)
    runs, expected = as_runs(pores, threads), pores.sources.reshape(D3Q19.q - 1, pores.row)
    for i in range(1, D3Q19.q):
        found = [source(runs, i, pore) for pore in range(pores.count)]
        np.testing.assert_array_equal(found, expected[i - 1, : pores.count])
    assert (runs.words.nbytes + runs.distances.nbytes) <= MOST_BYTES * (D3Q19.q - 1) * pores.row


def test_open_space_takes_few_runs(threads):
    pores = list_neighbours(problem_of(np.zeros((8, 8, 64), bool)), threads)
    runs = as_runs(pores, threads)
    # a group of 32 pores lies in one row, whose two ends come from over the periodic edge
    assert len(runs.distances) <= 2 * runs.groups * (D3Q19.q - 1)
