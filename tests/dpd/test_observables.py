"""What a run tells: averages, pressure, structure and viscosity from cases whose answer is known."""

import numpy as np
import pytest

from repro.dpd import exact
from repro.dpd.averages import Field
from repro.dpd.cases import Bulk, Poiseuille
from repro.dpd.fluid import Fluid
from repro.dpd.observables import (
    block_average,
    mean_of,
    nearest_move,
    parabola_viscosity,
    pressure,
    radial_distribution,
    reverse_viscosity,
    temperature,
)
from repro.dpd.simulation import Simulation
from repro.dpd.system import System
from repro.errors import InputError
from repro.parallel import select


def test_the_error_of_white_noise_is_its_scatter_over_the_root_of_its_length():
    found = block_average(np.random.default_rng(1).normal(3.0, 2.0, 40_000))
    assert found.error == pytest.approx(2 / 200, rel=0.5)  # 20 blocks know an error to about 16 %
    assert abs(found.value - 3.0) < 4 * 2 / 200


def test_the_error_of_a_correlated_series_counts_independent_samples_only():
    # each value fifty times: as many samples tell no more than the fiftieth part of them
    values = np.random.default_rng(2).normal(size=800)
    assert block_average(np.repeat(values, 50)).error == pytest.approx(block_average(values).error, rel=1e-9)


def test_the_error_of_a_mean_is_the_scatter_of_its_blocks_over_their_root():
    # means of 1, 3, 5 and 10, whose squares off 4.75 have the sum 44.75; what is left over does not count
    found = block_average([0, 2, 3, 3, 6, 4, 10, 10, 99], blocks=4)
    assert (found.value, found.error) == pytest.approx((4.75, np.sqrt(44.75 / 3 / 4)))


def test_a_series_too_short_for_its_blocks_is_refused():
    with pytest.raises(InputError, match="39 samples: 20 blocks need at least 40"):
        block_average(np.zeros(39))


def test_an_ideal_gas_has_g_of_one():
    generator, edges = np.random.default_rng(3), np.linspace(0, 2, 11)
    box, count = (6.0, 7.0, 8.0), 3000
    found = np.mean([radial_distribution(generator.uniform(0, box, (count, 3)), box, edges) for _ in range(4)], 0)
    pairs = 4 * count**2 / 2 / np.prod(box) * np.diff(4 / 3 * np.pi * edges**3)
    assert np.all(abs(found - (1 - 1 / count)) < 4.5 / np.sqrt(pairs))


def test_g_counts_the_six_neighbours_of_a_cubic_lattice():
    position = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), -1).reshape(-1, 3)
    edges = np.array([0.0, 0.9, 1.1, 1.3])
    shells = np.diff(4 / 3 * np.pi * edges**3)
    assert radial_distribution(position, (5.0,) * 3, edges) * shells == pytest.approx([0, 6, 0])


def test_g_beyond_half_the_box_is_refused():
    with pytest.raises(InputError, match="less than half the box"):
        radial_distribution(np.zeros((2, 3)), (4.0, 4.0, 4.0), np.linspace(0, 2, 5))


def test_a_move_over_the_edge_is_the_nearer_way():
    move = nearest_move(np.array([[0.1, 3.9, 2.0]]), np.array([[3.8, 0.2, 1.0]]), (4.0, 4.0, 4.0))
    assert move == pytest.approx(np.array([[0.3, -0.3, 1.0]]))


def test_particles_that_do_not_meet_have_the_pressure_of_an_ideal_gas():
    position = np.stack(np.meshgrid(*[np.arange(0.6, 6, 1.5)] * 3), -1).reshape(-1, 3)
    velocity = np.random.default_rng(4).normal(size=position.shape)
    system = System(Fluid(), (6.0,) * 3, position, velocity - velocity.mean(0), len(position))
    simulation = Simulation(system, select("serial"), strategy="linked", precision="double")
    simulation.start()
    assert pressure(simulation) == pytest.approx(64 / 216 * temperature(simulation), rel=1e-12)


def test_the_pressure_of_a_pair_has_its_virial():
    # r a (1 - r) / 3V for the repulsion; friction vanishes at rest, and noise with sigma
    fluid = Fluid(sigma=1e-9)
    position = np.array([[1.0, 1.0, 1.0], [1.4, 1.0, 1.0]])
    system = System(fluid, (4.0,) * 3, position, np.zeros((2, 3)), 2)
    simulation = Simulation(system, select("serial"), strategy="linked", precision="double")
    simulation.start()
    assert pressure(simulation) == pytest.approx(0.4 * fluid.repulsion * 0.6 / 3 / 64, rel=1e-6)


def test_a_box_with_walls_has_no_pressure_of_the_fluid():
    simulation = Simulation(Poiseuille(4, 4, 4).system(), select("serial"), strategy="linked")
    with pytest.raises(InputError, match="box without walls"):
        pressure(simulation)


def _field(z, velocity) -> Field:
    one, many = np.ones(1), np.full((1, len(z)), 4.0)
    return Field(one, z, many, velocity[None], 0 * many, many, samples=1)


def test_a_parabola_between_plates_gives_its_viscosity():
    case = Poiseuille(6, 4, 8, drive=0.03)
    bottom = case.walls.bottom
    z = bottom + (np.arange(16) + 0.5) / 2
    velocity = 4.0 * case.drive / (2 * 1.3) * (z - bottom) * (8 - (z - bottom)) + 0.1  # slip does not matter
    found, coefficients = parabola_viscosity(_field(z, velocity), case.system())
    assert found.value == pytest.approx(1.3, rel=1e-9)
    assert coefficients[1] == pytest.approx(0, abs=1e-9)


def test_two_opposite_parabolas_give_their_viscosity():
    system = Bulk((4, 4, 8), drive=0.05).system()
    z = (np.arange(16) + 0.5) / 2
    local = z % 4
    velocity = np.where(z < 4, 1, -1) * 4.0 * 0.05 / (2 * 0.9) * local * (4 - local)
    assert reverse_viscosity(_field(z, velocity), system).value == pytest.approx(0.9, rel=1e-9)


def test_the_fluid_is_the_papers():
    """Table 3, at kT = 1."""
    fluid = Fluid()
    assert (fluid.density, fluid.repulsion, fluid.sigma, fluid.temperature) == (4.0, 18.75, 3.0, 1.0)
    assert (fluid.dt, fluid.predictor) == (0.02, 0.65)


#: numbers that are unlike each other
UNLIKE = Fluid(density=2.5, repulsion=10.0, sigma=3.0, temperature=0.8)


def test_friction_and_noise_hold_the_temperature():
    # sigma^2 = 2 gamma kT
    assert UNLIKE.friction == pytest.approx(9 / 1.6)
    assert UNLIKE.conservative_force(0.3) == pytest.approx(7.0)


def test_theories_are_the_published_formulas():
    # Groot and Warren: p = rho kT + 0.101 a rho^2, and the sound from its slope
    assert exact.pressure(UNLIKE) == pytest.approx(2.0 + 0.101 * 10 * 6.25)
    assert exact.sound_speed(UNLIKE) ** 2 == pytest.approx(0.8 + 0.202 * 10 * 2.5)
    # Marsh, Backx and Ernst: D = 45 kT / (2 pi gamma rho), eta = rho D / 2 + 2 pi gamma rho^2 / 1575
    diffusion = 45 * 0.8 / (2 * np.pi * 5.625 * 2.5)
    assert exact.self_diffusion(UNLIKE) == pytest.approx(diffusion)
    assert exact.viscosity(UNLIKE) == pytest.approx(2.5 * diffusion / 2 + 2 * np.pi * 5.625 * 2.5**2 / 1575)


def test_a_flow_between_plates_rests_at_both_and_bends_as_its_force_says():
    z, step = np.array([1.0, 2.5]), 1e-3

    def u(place):
        return exact.poiseuille(place, 4.0, 0.03, 2.5, 0.7)

    assert u(np.array([0.0, 4.0])) == pytest.approx(0)
    assert 0.7 * (u(z + step) - 2 * u(z) + u(z - step)) / step**2 == pytest.approx(-2.5 * 0.03, rel=1e-6)


def test_an_error_needs_two_samples_a_block_and_two_blocks():
    assert block_average(np.arange(40.0)).value == 19.5
    assert block_average(np.arange(4.0), blocks=2).error == pytest.approx(1.0)
    assert str(mean_of([1.0, 3.0])) == "2 +- 1"
    with pytest.raises(InputError, match="1 value: an error needs at least two independent ones"):
        mean_of([1.0])


def test_the_shortest_side_of_a_box_limits_distances_and_each_axis_has_its_own_way_round():
    position, box = np.zeros((2, 3)), (8.0, 4.0, 6.0)
    radial_distribution(position, box, np.array([0.5, 1.999]))
    with pytest.raises(InputError, match="distances up to 2: less than half the box, 2"):
        radial_distribution(position, box, np.array([0.5, 2.0]))
    move = nearest_move(np.array([[7.0, 3.5, 1.0]]), np.array([[1.0, 1.0, 5.0]]), box)
    np.testing.assert_allclose(move, [[-2.0, -1.5, 2.0]])


def _scattered(z, velocity, density):
    one = np.ones(1)
    return Field(one, z, density[None], velocity[None], 0 * density[None], density[None], samples=1)


def _error_of_parabola(z, velocity) -> float:
    """Relative error of the curvature of a least-squares parabola, by its normal equations."""
    x = np.column_stack([z**2, z, np.ones_like(z)])
    inverse = np.linalg.inv(x.T @ x)
    curvature = inverse @ x.T @ velocity
    scatter = ((velocity - x @ curvature) ** 2).sum() / (len(z) - 3)
    return float(np.sqrt(scatter * inverse[0, 0]) / abs(curvature[0]))


def test_viscosity_takes_the_density_and_the_velocities_far_from_the_walls_with_the_error_of_the_fit():
    case = Poiseuille(6, 4, 8, drive=0.03, thickness=1.5)
    bottom, z = case.walls.bottom, 1.5 + (np.arange(32) + 0.5) / 4
    noise = np.random.default_rng(7).normal(0, 1e-3, 32)
    velocity = 5.0 * case.drive / (2 * 1.3) * (z - bottom) * (8 - (z - bottom)) + noise
    far = (z > bottom + 1) & (z < bottom + 7)
    # near the walls are other fluids
    field = _scattered(z, np.where(far, velocity, 9.0), np.where(far, 5.0, 1.0))
    found, coefficients = parabola_viscosity(field, case.system())
    assert found.value == pytest.approx(1.3, rel=0.03)
    assert found.error / found.value == pytest.approx(_error_of_parabola(z[far], velocity[far]))
    assert np.polyval(coefficients, 0.0) == pytest.approx(5.0 * case.drive / (2 * 1.3) * 16, rel=0.01)
    wider, _ = parabola_viscosity(field, case.system(), margin=2.0)
    inner = (z > bottom + 2) & (z < bottom + 6)
    assert wider.error / wider.value == pytest.approx(_error_of_parabola(z[inner], velocity[inner]))


def test_both_halves_of_a_reverse_flow_count_with_the_density_that_was_found():
    system, z = Bulk((4, 5, 8), drive=0.05).system(), (np.arange(32) + 0.5) / 4
    local, half = z % 4, np.where(z < 4, 1, -1)
    noise = np.random.default_rng(8).normal(0, 1e-3, 32)
    velocity = half * (5.0 * 0.05 / (2 * 0.9) * local * (4 - local) + noise)
    found = reverse_viscosity(_scattered(z, velocity, np.full(32, 5.0)), system)
    assert found.value == pytest.approx(0.9, rel=0.05)
    assert found.error / found.value == pytest.approx(_error_of_parabola(local - 2, half * velocity))


def test_frozen_particles_have_no_temperature():
    velocity = np.array([[1.0, 2.0, -2.0], [-1.0, -2.0, 2.0], [0.0, 0.0, 0.0]])
    system = System(Fluid(), (4.0,) * 3, np.array([[1.0, 1.0, 1.0], [3.0, 1.0, 1.0], [1.0, 3.0, 3.0]]), velocity, 2)
    assert temperature(Simulation(system, select("serial"), precision="double")) == pytest.approx(18 / 3)
