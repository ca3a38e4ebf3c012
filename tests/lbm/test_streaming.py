"""Every strategy, layout and wall scheme against the reference in NumPy, from random populations.

Cheap on the CUDA simulator, which compiles nothing, hence the wide matrix there; a selection on the CPU.
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers.lbm_reference import Reference
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm.boundaries import BOUNCE_BACK, Boundaries
from repro.lbm.lattice import D2Q9, D3Q15, D3Q19, LATTICES
from repro.lbm.layout import LAYOUTS
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.model import Model, Problem
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.simulation import Simulation
from repro.lbm.strategies import ALL, STRATEGIES
from repro.parallel import select

P, H, M, S, E = "periodic", "half-way", "modified", "standard", "extrapolation"

#: some steps of some tens of operations on numbers of order one
ROUNDING = {"double": 1e-13, "single": 5e-6}

FORCE, SPEED = (2e-4, -1e-4, 3e-4), (0.05, -0.03, 0.04)

#: lattice, faces and moving face
BOXES = {
    "periodic": (D2Q9, (P,) * 6, None),
    "half-way": (D2Q9, (H, H, H, H, P, P), None),
    "half-way, x low moves": (D2Q9, (H, H, H, H, P, P), 0),
    "half-way, x high moves": (D2Q9, (H, H, P, P, P, P), 1),
    "half-way, y low moves": (D2Q9, (H, H, H, H, P, P), 2),
    "half-way, y high moves": (D2Q9, (H, H, H, H, P, P), 3),
    "modified": (D2Q9, (M, M, M, M, P, P), None),
    "modified, x low moves": (D2Q9, (M, M, M, M, P, P), 0),
    "modified, y high moves": (D2Q9, (M, M, M, M, P, P), 3),
    "modified channel": (D2Q9, (P, P, M, M, P, P), 2),
    "standard": (D2Q9, (S, S, S, S, P, P), None),
    "standard, y high moves": (D2Q9, (S, S, S, S, P, P), 3),
    "standard channel": (D2Q9, (P, P, S, S, P, P), None),
    "extrapolation": (D2Q9, (E, E, E, E, P, P), None),
    "extrapolation, x high moves": (D2Q9, (E, E, E, E, P, P), 1),
    "extrapolation, y high moves": (D2Q9, (E, E, E, E, P, P), 3),
    "half-way with extrapolated lid": (D2Q9, (H, H, H, E, P, P), 3),
    "modified with extrapolated lid": (D2Q9, (M, M, M, E, P, P), 3),
    "standard with extrapolated lid": (D2Q9, (S, S, S, E, P, P), 3),
    "extrapolation with half-way lid": (D2Q9, (E, E, E, H, P, P), 3),
    "half-way and extrapolation along y": (D2Q9, (P, P, H, E, P, P), 3),
    "D3Q15 duct": (D3Q15, (P, P, E, E, E, E), None),
    "D3Q15 half-way": (D3Q15, (H,) * 6, 4),
    "D3Q15 modified": (D3Q15, (M,) * 6, 5),
    "D3Q15 mixed": (D3Q15, (H, H, E, H, P, P), 2),
    "D3Q19 periodic": (D3Q19, (P,) * 6, None),
    "D3Q19 half-way": (D3Q19, (H,) * 6, 3),
    "D3Q19 modified": (D3Q19, (M, M, M, M, P, P), 0),
    "D3Q19 standard": (D3Q19, (P, P, S, S, S, S), None),
    "D3Q19 mixed": (D3Q19, (P, P, M, E, M, M), 3),
}


def problem_of(box: str, shape, collision="trt", forcing="guo") -> Problem:
    """A problem whose walls move in their own planes, with a force in the lattice's dimensions."""
    lattice, faces, moving = BOXES[box]
    inside = np.arange(3) < lattice.dimensions
    speed = np.where(inside & (np.arange(3) != (-1 if moving is None else moving // 2)), SPEED, 0.0)
    return Problem(
        Model(lattice, Boundaries(faces, moving), collision, forcing),
        tuple(shape) if lattice.dimensions == 3 else (*shape[:2], 1),
        relaxation_time=0.8,
        force=tuple(np.where(inside, FORCE, 0.0)) if forcing else (0.0, 0.0, 0.0),
        wall_velocity=tuple(speed) if moving is not None else (0.0, 0.0, 0.0),
    )


def random_populations(problem, seed=1):
    """Populations some per cent from the rest state, of shape (q, nz, ny, nx)."""
    weights = np.array(problem.model.lattice.weights)[:, None, None, None]
    noise = np.random.default_rng(seed).uniform(-1, 1, (weights.size, *problem.shape[::-1]))
    return weights * (1 + 0.1 * noise)


def assert_same_flow(problem, device, steps=3, **options):
    """The strategy and the reference, from the same random populations, have the same density and velocity."""
    simulation = Simulation(problem, device, **{"precision": "double", **options})
    populations = random_populations(problem)
    simulation.set_populations(populations)
    reference = Reference(problem, populations)
    tolerance = ROUNDING[simulation.precision]
    for _ in range(steps):
        simulation.step(1)
        reference.step(1)
        (rho, u), (expected_rho, expected_u) = simulation.fields(), reference.fields()
        # the density inside a wall has no meaning
        fluid = ~reference.solid
        np.testing.assert_allclose(rho[fluid], expected_rho[fluid], rtol=0, atol=tolerance)
        np.testing.assert_allclose(u, expected_u, rtol=0, atol=tolerance)
    return simulation, reference


#: boxes in which obstacles stand, and strategies that take them
AROUND = [
    "periodic",
    "half-way, y high moves",
    "modified channel",
    "standard channel",
    "half-way with extrapolated lid",
]
AROUND += ["D3Q15 half-way", "D3Q19 half-way", "D3Q19 periodic"]


def with_obstacle(problem, seed=4):
    """The problem with nodes that are solid by chance, away from extrapolated faces."""
    solid = np.random.default_rng(seed).random(problem.shape[::-1]) < 0.3
    if "extrapolation" in problem.model.boundaries.faces:
        solid[:, -2:] = False
    return replace(problem, solid=solid)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("box", AROUND)
def test_every_strategy_streams_around_obstacles_in_every_box_as_the_reference(wide_device, box, strategy):
    shape = (6, 5, 1) if BOXES[box][0] is D2Q9 else (4, 4, 4)
    problem = with_obstacle(problem_of(box, shape))
    assert_same_flow(problem, wide_device, 3, **block_of(strategy, shape[0]) | {"strategy": strategy})


@pytest.mark.parametrize("strategy", [name for name in ALL if name not in (*STRATEGIES, "swap sweep", "paired pull")])
def test_strategies_in_place_stream_around_obstacles_in_a_closed_box(wide_device, strategy):
    problem = with_obstacle(problem_of("standard", (6, 5, 1)))
    assert_same_flow(problem, wide_device, 3, strategy=strategy)


@pytest.mark.parametrize("strategy", ["pull", "esoteric pull"])
def test_runs_of_nodes_may_hold_solid_and_fluid(threads, strategy):
    assert_same_flow(with_obstacle(problem_of("standard channel", (150, 6, 1))), threads, strategy=strategy)


def test_solid_rows_are_the_walls_of_a_channel_exactly_half_way(threads):
    """Poiseuille flow between marked plates, with a magic number of 3/16, is the parabola to rounding."""
    solid = np.zeros((1, 10, 3), bool)
    solid[:, [0, -1]] = True
    model = Model(D2Q9, Boundaries(BOXES["periodic"][1]), "trt", "guo")
    problem = Problem(model, (3, 10, 1), relaxation_time=1.0, force=(1e-5, 0.0, 0.0), solid=solid)
    simulation = Simulation(problem, threads, precision="double")
    simulation.run_to_steady_state(tolerance=1e-13, interval=500)
    y = np.arange(8) - 3.5
    expected = 1e-5 / (2 * problem.viscosity) * (16 - y**2)
    np.testing.assert_allclose(simulation.fields()[1][0, 0, 1:-1, 1], expected, rtol=1e-9)
    assert not simulation.fields()[1][:, solid].any()


def test_a_steady_flow_around_obstacles_is_that_through_the_same_pores(threads):
    """Bounce-back in the solid node and at the link to it have the same steady flow."""
    solid = sphere_crystal(8, 0.9)
    pores = PorousProblem(PoreSpace(solid), 1.0, (1e-4, 0.0, 0.0), "trt")
    box = replace(pores.box, solid=solid)
    flows = PorousFlow(pores, threads, precision="double"), Simulation(box, threads, precision="double")
    for flow in flows:
        flow.step(2000)
    expected, found = (flow.fields()[1] for flow in flows)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("box", "solid", "message"),
    [
        ("periodic", np.zeros((1, 5, 5), bool), r"solid of shape \(1, 5, 5\): the grid \(6, 5, 1\) needs \(1, 5, 6\)"),
        ("periodic", np.ones((1, 5, 6), bool), "all solid"),
        ("periodic", np.zeros((1, 5, 6)), "solid = .* must be an array of booleans"),
        ("half-way with extrapolated lid", np.arange(30).reshape(1, 5, 6) == 20, "extrapolated face y high or beside"),
    ],
)
def test_solids_that_cannot_stand_in_the_box_are_refused(box, solid, message):
    with pytest.raises(InputError, match=message):
        replace(problem_of(box, (6, 5, 1)), solid=solid)


def block_of(strategy, nx):
    """Two blocks a row where rows must be whole blocks, else a size that leaves a partial block."""
    return {"block": nx // 2 if strategy == "shared memory" else 4}


def possible(box, strategy):
    faces, moving = BOXES[box][1], BOXES[box][2]
    return strategy != "shared memory" or (set(faces[:2]) <= {P, H} and moving not in (0, 1))


MATRIX = [(box, strategy) for box in BOXES for strategy in STRATEGIES if possible(box, strategy)]


@pytest.mark.parametrize(("box", "strategy"), MATRIX)
def test_strategies_stream_collide_and_meet_walls_as_the_reference(wide_device, box, strategy):
    shape, steps = ((6, 5, 1), 3) if BOXES[box][0] is D2Q9 else ((4, 4, 4), 2)
    options = block_of(strategy, shape[0]) | {"strategy": strategy}
    assert_same_flow(problem_of(box, shape), wide_device, steps, **options)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("box", ["half-way with extrapolated lid", "D3Q15 half-way", "D3Q19 periodic"])
def test_arrays_of_structures_hold_the_same_flow(wide_device, box, strategy):
    shape = (6, 5, 1) if BOXES[box][0] is D2Q9 else (4, 3, 3)
    options = block_of(strategy, shape[0]) | {"strategy": strategy, "layout": "aos"}
    assert_same_flow(problem_of(box, shape, "bgk", "luo"), wide_device, steps=2, **options)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("box", ["periodic", "half-way, y high moves"])
def test_the_number_of_blocks_a_row_does_not_matter(cuda_device, box, blocks, strategy):
    problem = problem_of(box, (6, 3, 1), forcing=None)
    assert_same_flow(problem, cuda_device, steps=4, strategy=strategy, block=6 // blocks)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("shape", [(2, 2, 1), (2, 3, 1), (3, 2, 1)])
def test_the_smallest_boxes_work(wide_device, strategy, shape):
    problem = problem_of("half-way, y high moves", shape)
    assert_same_flow(problem, wide_device, strategy=strategy, block=shape[0])


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("shape", [(1, 4, 1), (4, 1, 1), (1, 1, 1)])
def test_a_periodic_box_may_be_one_node_wide(wide_device, strategy, shape):
    assert_same_flow(problem_of("periodic", shape), wide_device, strategy=strategy, block=shape[0])


#: few enough to compile; rows longer than a run of the CPU, with a rest
CPU = [
    ("serial", "half-way, y high moves", "pull", "soa", "double"),
    ("threads", "half-way, y high moves", "pull", "soa", "double"),
    ("threads", "half-way, y high moves", "push", "soa", "double"),
    ("threads", "half-way, y high moves", "split", "aos", "double"),
    ("threads", "half-way, y high moves", "shared memory", "soa", "double"),
    ("threads", "half-way, y high moves", "pull", "soa", "single"),
    ("threads", "D3Q15 mixed", "push", "soa", "double"),
    ("serial", "D3Q15 mixed", "shared memory", "aos", "double"),
    ("threads", "D3Q19 modified", "pull", "aos", "double"),
    ("threads", "standard", "push", "soa", "double"),
]


@pytest.mark.parametrize(("name", "box", "strategy", "layout", "precision"), CPU)
def test_strategies_on_the_cpu_agree_with_the_reference_and_conserve_mass(name, box, strategy, layout, precision):
    shape = (150, 6, 1) if BOXES[box][0] is D2Q9 else (132, 4, 5)
    options = {"strategy": strategy, "layout": layout, "precision": precision, **block_of(strategy, shape[0])}
    simulation, reference = assert_same_flow(problem_of(box, shape), select(name), **options)
    if reference.bounce == "half-way" and not reference.wall.any():
        assert_mass_is_conserved(simulation, steps=50)


@settings(max_examples=25, deadline=None)
@given(nx=st.integers(2, 300), ny=st.integers(2, 6))
def test_no_shape_is_special_to_runs_of_nodes_on_the_cpu(nx, ny):
    assert_same_flow(problem_of("half-way, y high moves", (nx, ny, 1)), select("threads"), steps=2)


def assert_mass_is_conserved(simulation, steps):
    before = simulation.fields()[0].sum()
    simulation.step(steps)
    epsilon = float(np.finfo(simulation.dtype).eps)
    # rounding of each step, at random
    assert simulation.fields()[0].sum() == pytest.approx(before, rel=steps * epsilon)
    assert simulation.populations().sum() == pytest.approx(before, rel=steps * epsilon)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("box", ["half-way, y high moves", "half-way, y low moves", "D3Q19 half-way"])
def test_mass_is_conserved_between_half_way_walls_with_a_moving_lid(cuda_device, box, strategy):
    problem = problem_of(box, (4, 4, 3))
    simulation = Simulation(problem, cuda_device, precision="double", strategy=strategy, block=4)
    simulation.set_populations(random_populations(problem))
    assert_mass_is_conserved(simulation, steps=2)


def momentum(simulation):
    rho, u = simulation.fields()
    return (rho * u).sum(axis=(1, 2, 3))


@pytest.mark.parametrize("lattice", LATTICES)
@pytest.mark.parametrize("forcing", ["luo", "guo"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_momentum_grows_by_the_force_on_each_node_in_a_periodic_box(cuda_device, lattice, forcing, strategy):
    assert_momentum_grows(cuda_device, lattice, forcing, strategy)


def test_momentum_grows_by_the_force_on_each_node_on_the_cpu(threads):
    assert_momentum_grows(threads, "D2Q9", "guo", "pull")


def assert_momentum_grows(device, lattice, forcing, strategy):
    box, lattice = "periodic", LATTICES[lattice]
    shape = (4, 3, 1 if lattice.dimensions == 2 else 3)
    force = tuple(np.where(np.arange(3) < lattice.dimensions, FORCE, 0.0))
    model = Model(lattice, Boundaries(BOXES[box][1]), "trt", forcing)
    problem = Problem(model, shape, relaxation_time=0.7, force=force)
    simulation = Simulation(problem, device, precision="double", strategy=strategy, block=4)
    simulation.set_populations(random_populations(problem))
    simulation.step(1)
    before = momentum(simulation)
    simulation.step(3)
    np.testing.assert_allclose(momentum(simulation) - before, 3 * problem.nodes * np.array(force), atol=1e-14)


@pytest.mark.parametrize("scheme", [*BOUNCE_BACK, "extrapolation"])
@pytest.mark.parametrize("moving", range(4))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_moving_wall_drags_the_fluid_along(wide_device, strategy, moving, scheme):
    """In a channel between two walls, one of which moves: by momentum alone, whatever the reference says."""
    axis = moving // 2
    if strategy == "shared memory" and axis == 0:
        pytest.skip("refused, see test_input")
    faces = (scheme, scheme, P, P, P, P) if axis == 0 else (P, P, scheme, scheme, P, P)
    velocity = (0.0, 0.1, 0.0) if axis == 0 else (0.1, 0.0, 0.0)
    shape = (6, 2, 1) if axis == 0 else (2, 6, 1)
    problem = Problem(Model(D2Q9, Boundaries(faces, moving)), shape, 0.9, wall_velocity=velocity)
    simulation = Simulation(problem, wide_device, precision="double", strategy=strategy, block=2)
    simulation.step(8)
    u = simulation.fields()[1][1 - axis, 0]
    profile = u.mean(axis=0) if axis == 0 else u.mean(axis=1)
    if moving % 2:
        profile = profile[::-1]
    # from the moving wall inwards; a node in a "standard" wall has no velocity of its own
    fluid = profile[1:4] if scheme == "standard" else profile[:4]
    assert 0.01 < fluid[0] <= 0.1 + 1e-12
    assert np.all(np.diff(fluid) < 0)
    assert fluid[-1] > 0


@pytest.mark.parametrize("collision", ["bgk", "trt"])
@pytest.mark.parametrize("forcing", [None, "luo", "guo"])
def test_collisions_and_forcings_agree_with_the_reference(wide_device, collision, forcing):
    problem = problem_of("half-way with extrapolated lid", (5, 5, 1), collision, forcing)
    assert_same_flow(problem, wide_device, steps=4)


def test_a_fluid_starts_at_rest_with_density_one(cuda_device):
    simulation = Simulation(problem_of("half-way, y high moves", (6, 5, 1)), cuda_device, precision="double")
    rho, u = simulation.fields()
    np.testing.assert_array_equal(rho, 1)
    # half the force, which the fields contain from the start
    assert np.abs(u).max() <= 0.5 * max(map(abs, FORCE)) + 1e-15


@pytest.mark.parametrize("layout", LAYOUTS)
def test_populations_come_back_as_they_were_set(wide_device, layout):
    problem = problem_of("periodic", (4, 3, 1))
    simulation = Simulation(problem, wide_device, precision="double", layout=layout)
    populations = random_populations(problem)
    simulation.set_populations(populations)
    np.testing.assert_allclose(simulation.populations(), populations, atol=1e-16)


def test_populations_cannot_be_set_on_the_way(wide_device):
    problem = problem_of("periodic", (4, 3, 1))
    simulation = Simulation(problem, wide_device)
    simulation.step(1)
    with pytest.raises(InputError, match="before the first step"):
        simulation.set_populations(random_populations(problem))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("strategy", ["pull", "push"])
def test_a_run_to_the_steady_state_restores_the_mass_that_an_extrapolated_lid_leaks(wide_device, strategy, layout):
    problem = problem_of("half-way with extrapolated lid", (5, 5, 1), forcing=None)
    restored, leaking = (
        Simulation(problem, wide_device, precision="double", strategy=strategy, layout=layout) for _ in range(2)
    )
    for simulation in (restored, leaking):
        simulation.set_populations(1.01 * random_populations(problem))
    restored.run_to_steady_state(interval=2, limit=2)
    leaking.step(2)
    assert abs(leaking.mean_density() - 1) > 1e-3
    assert restored.mean_density() == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(restored.fields()[1], leaking.fields()[1], atol=1e-14)
