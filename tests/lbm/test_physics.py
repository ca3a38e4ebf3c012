"""Flows with known solutions, and devices against each other over many steps."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.plain import PlainDevice
from scipy.sparse import diags, eye, kron
from scipy.sparse.linalg import spsolve

from repro.errors import DivergenceError
from repro.lbm.boundaries import PERIODIC_BOX, Boundaries
from repro.lbm.cases import Cavity, Duct
from repro.lbm.exact import duct_velocity, duct_velocity_as_printed
from repro.lbm.lattice import D2Q9
from repro.lbm.model import Model, Problem
from repro.lbm.simulation import Simulation
from repro.parallel import select

P, H = "periodic", "half-way"


@pytest.mark.parametrize("relaxation_time", [0.8, 1.7])
def test_plane_poiseuille_flow_between_half_way_walls_is_exact_with_the_magic_number_3_16(relaxation_time):
    ny, force = 8, 1e-4
    model = Model(D2Q9, Boundaries((P, P, H, H, P, P)), "trt", "guo")
    problem = Problem(model, (3, ny, 1), relaxation_time, force=(force, 0.0, 0.0), magic=3 / 16)
    # a grid so small that starting threads takes longer than the step
    simulation = Simulation(problem, select("serial"), precision="double")
    # the slowest mode decays with nu pi^2/ny^2
    simulation.step(int(40 * ny**2 / (np.pi**2 * problem.viscosity)))
    rho, u = simulation.fields()
    y = np.arange(ny) + 0.5
    parabola = force / (2 * problem.viscosity) * y * (ny - y)
    np.testing.assert_allclose(u[0, 0], np.outer(parabola, np.ones(3)), rtol=1e-11)
    np.testing.assert_allclose(u[1:], 0, atol=1e-14)
    np.testing.assert_allclose(rho, 1, atol=1e-13)


def taylor_green(nodes, relaxation_time, speed):
    """Problem, populations and wavenumber of the vortex u = U cos kx sin ky, v = -U sin kx cos ky."""
    # a force of zero, so that the kernels are those of the momentum test
    problem = Problem(Model(D2Q9, PERIODIC_BOX, "bgk", "guo"), (nodes, nodes, 1), relaxation_time)
    k = 2 * np.pi / nodes
    y, x = np.indices((nodes, nodes)) * k
    u = speed * np.array([np.cos(x) * np.sin(y), -np.sin(x) * np.cos(y)])
    rho = 1 - 3 / 4 * speed**2 * (np.cos(2 * x) + np.cos(2 * y))
    along = speed * k * np.sin(x) * np.sin(y)
    gradient = np.array([[-along, speed * k * np.cos(x) * np.cos(y)], [-speed * k * np.cos(x) * np.cos(y), along]])
    c, w = np.array(D2Q9.velocities)[:, :2], np.array(D2Q9.weights)[:, None, None]
    cu = np.einsum("ia,ayx->iyx", c, u)
    f = w * rho * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (u * u).sum(0))
    # the first order of the departure from equilibrium: without it the vortex starts with a jolt
    f -= 3 * relaxation_time * w * np.einsum("ia,ib,baxy->ixy", c, c, gradient)
    return problem, f[:, None], k


def decay_rate_error(nodes, device):
    """Relative error of the vortex's decay rate against 2 nu k^2, with the speed halved as the nodes are doubled."""
    problem, populations, k = taylor_green(nodes, 0.8, speed=0.32 / nodes)
    rate = 2 * problem.viscosity * k**2
    simulation = Simulation(problem, device, precision="double")
    simulation.set_populations(populations)
    simulation.step(round(0.5 / rate))
    speed, start = np.linalg.norm(simulation.fields()[1]), simulation.steps
    simulation.step(round(1 / rate))
    measured = np.log(speed / np.linalg.norm(simulation.fields()[1])) / (simulation.steps - start)
    return abs(measured / rate - 1)


def test_taylor_green_vortex_decays_with_the_viscosity_to_second_order(threads):
    coarse, fine = decay_rate_error(16, threads), decay_rate_error(32, threads)
    assert fine < 0.005
    # second order; terms of fourth order are a few per cent at 16 nodes
    assert coarse / fine == pytest.approx(4, rel=0.1)


def duct_by_finite_differences(cells):
    """u nu/(F a^2) at the inner points of a square of side one with `cells` cells a side, five-point stencil."""
    n = cells - 1
    line = diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)) * cells**2
    laplace = (kron(line, eye(n)) + kron(eye(n), line)).tocsc()
    return spsolve(laplace, np.ones(n * n)).reshape(n, n)


def test_the_series_of_the_duct_solves_the_poisson_equation():
    side, force, viscosity, cells = 3.0, 2e-3, 0.05, 128
    x = (np.arange(1, cells) / cells - 0.5) * side
    series = duct_velocity(x[None, :], x[:, None], side, force, viscosity)
    expected = duct_by_finite_differences(cells) * force * side**2 / viscosity
    # the stencil's error falls with the square of the spacing and is 1.2e-5 with 256 cells
    np.testing.assert_allclose(series, expected, atol=8e-5 * expected.max())


def test_the_series_of_the_duct_has_the_known_centre_and_mean():
    n = 400
    x = (np.arange(n) + 0.5) / n - 0.5
    field = duct_velocity(x[None, :], x[:, None], 1.0, 1.0, 1.0)
    centre = float(duct_velocity(0.0, 0.0, 1.0, 1.0, 1.0))
    assert centre == pytest.approx(0.0736713, abs=1e-7)
    assert centre / (4 / np.pi**3) == pytest.approx(0.571069, abs=1e-6)
    # midpoint rule: an error of the order 1/n^2
    assert field.mean() == pytest.approx(0.0351443, abs=1e-6)
    assert centre / field.mean() == pytest.approx(2.096256, abs=5e-5)


def test_the_series_of_the_duct_vanishes_on_the_walls_and_is_symmetric():
    x = np.linspace(-1, 1, 21)
    field = duct_velocity(x[None, :], x[:, None], 2.0, 1.0, 1.0)
    for wall in (field[0], field[-1], field[:, 0], field[:, -1]):
        np.testing.assert_allclose(wall, 0, atol=1e-15)
    # what is left out of the series after 400 terms breaks the symmetry in x and y
    np.testing.assert_allclose(field, field.T, atol=2e-7)
    np.testing.assert_allclose(field, field[::-1, ::-1], atol=1e-15)


@pytest.mark.filterwarnings("error")
def test_many_terms_of_the_series_do_not_overflow():
    x = np.linspace(-0.5, 0.5, 5)
    many, few = (duct_velocity(x, 0.1, 1.0, 1.0, 1.0, terms=terms) for terms in (5000, 400))
    assert np.isfinite(many).all()
    np.testing.assert_allclose(many, few, atol=1e-8)


def test_the_printed_series_gives_no_flow_at_the_centre():
    assert duct_velocity_as_printed(0.0, 0.0, 1.0, 1.0, 1.0) == 0


def test_the_force_of_the_duct_gives_the_u0_that_was_asked_for():
    case = Duct(nodes=10, u0=0.002, relaxation_time=0.9, walls="half-way")
    centre = float(duct_velocity(0.0, 0.0, case.side, case.force, case.problem.viscosity))
    assert centre == pytest.approx(0.571069 * 0.002, rel=1e-5)
    assert case.side == 10
    assert case.positions[0] == -4.5


CAVITY = Cavity(nodes=32, reynolds=100.0, lid_speed=0.1)


@pytest.fixture(scope="module")
def cavity_on_one_core():
    """Density and velocity of the cavity on the device serial after 1000 steps, in double precision."""
    simulation = Simulation(CAVITY.problem, select("serial"), precision="double")
    simulation.step(1000)
    return simulation.fields()


def assert_agree(fields, expected, tolerance):
    for ours, theirs in zip(fields, expected, strict=True):
        assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


def test_threads_and_one_core_agree_after_1000_steps_of_the_cavity(threads, cavity_on_one_core):
    simulation = Simulation(CAVITY.problem, threads, precision="double")
    simulation.step(1000)
    assert_agree(simulation.fields(), cavity_on_one_core, 1e-12)


def test_cuda_and_one_core_agree_in_the_cavity(cuda_device, cavity_on_one_core):
    if cuda_device.simulated:
        # few threads for the simulator
        problem = replace(CAVITY.problem, shape=(8, 8, 1))
        ours, theirs = (Simulation(problem, device, precision="double") for device in (cuda_device, select("serial")))
        for simulation in (ours, theirs):
            simulation.step(3)
        assert_agree(ours.fields(), theirs.fields(), 1e-10)
        return
    simulation = Simulation(CAVITY.problem, cuda_device, precision="double")
    simulation.step(1000)
    assert_agree(simulation.fields(), cavity_on_one_core, 1e-10)


def test_steps_in_one_call_or_in_many_end_in_the_same_flow(threads):
    """Also where a graph of many steps is recorded: at an odd step, and more than once."""
    once, often = (Simulation(CAVITY.problem, threads, precision="double") for _ in range(2))
    once.step(313)
    for count in (1, 1, 1, 205, 105):
        often.step(count)
    assert once.steps == often.steps == 313
    np.testing.assert_array_equal(once.fields()[1], often.fields()[1])


def step_by_step(simulation, portions):
    """Look for values that are not finite every 100 steps."""
    for _ in range(portions):
        simulation.step(100)


def test_a_flow_that_blows_up_is_stopped_within_1000_steps_naming_step_and_relaxation_time(threads):
    problem = replace(Cavity(nodes=32, reynolds=100, lid_speed=0.17).problem, relaxation_time=0.50016)
    simulation = Simulation(problem, threads, precision="double")
    with pytest.raises(DivergenceError) as error:
        step_by_step(simulation, portions=100)
    text = str(error.value)
    assert "\n" not in text
    assert f"step {simulation.steps}" in text
    assert f"relaxation time {problem.relaxation_time:.6g}" in text
    assert "use more nodes" in text
    # the same in one call: nobody looked at it on the way
    blind = Simulation(problem, threads, precision="double")
    with pytest.raises(DivergenceError):
        blind.step(100_000)
    assert blind.steps <= simulation.steps + 1000


def test_the_cavity_at_rest_never_counts_as_converged(threads):
    """Equation 4.2 divides by the velocity: without one there is no convergence to report."""
    simulation = Simulation(CAVITY.problem, threads, precision="double")
    change, velocity = simulation.velocity_change(None)
    assert change == float("inf")
    assert simulation.velocity_change(0 * velocity)[0] == float("inf")


def test_a_change_of_velocity_is_relative_to_the_velocity_before(threads):
    simulation = Simulation(CAVITY.problem, threads, precision="double")
    simulation.step(50)
    _, velocity = simulation.velocity_change(None)
    # half of what was before is gone, whatever its unit
    assert simulation.velocity_change(2 * velocity)[0] == pytest.approx(0.5, rel=1e-12)


def test_the_steady_state_is_found_when_the_velocity_changes_by_less_than_the_tolerance(threads):
    case = Cavity(nodes=32, reynolds=10.0, lid_speed=0.05)
    simulation = Simulation(case.problem, threads, precision="double")
    convergence = simulation.run_to_steady_state(tolerance=1e-6, interval=200, limit=20_000)
    assert convergence.converged
    assert convergence.steps == simulation.steps == convergence.history[-1][0] < 20_000
    before = simulation.fields()[1]
    simulation.step(200)
    change = np.linalg.norm(simulation.fields()[1] - before) / np.linalg.norm(before)
    assert change <= 1e-6
    assert convergence.history[-2][1] > 1e-6 >= convergence.history[-1][1]


def test_a_run_that_reaches_its_limit_does_not_count_as_converged(threads):
    simulation = Simulation(CAVITY.problem, threads, precision="double")
    convergence = simulation.run_to_steady_state(tolerance=1e-12, interval=50, limit=100)
    assert not convergence.converged
    assert simulation.steps == 100
    assert "NOT converged" in repr(convergence)


class Made:
    """A run whose velocity changes by what is written, at each look."""

    def __init__(self, monkeypatch, changes):
        self.simulation = Simulation(CAVITY.problem, PlainDevice())
        self.kept, self.restored, changes = [], 0, iter(changes)

        def change(previous):
            self.kept.append(previous)
            return (float("inf"), 0) if previous is None else (next(changes), previous + 1)

        monkeypatch.setattr(self.simulation, "velocity_change", change)
        monkeypatch.setattr(self.simulation, "_restore_mass", lambda: setattr(self, "restored", self.restored + 1))
        monkeypatch.setattr(self.simulation, "step", self.step)

    def step(self, count):
        self.simulation.steps += count


def test_a_run_ends_when_the_change_is_the_tolerance_at_most(monkeypatch):
    made = Made(monkeypatch, [1.0, 3e-4, 2e-4, 0.0])
    found = made.simulation.run_to_steady_state(tolerance=2e-4, interval=10)
    assert (found.converged, found.steps, made.restored, made.kept) == (True, 30, 3, [None, 0, 1, 2])
    assert found.history == ((10, 1.0), (20, 3e-4), (30, 2e-4))
    assert repr(found) == "converged after 30 steps (last change 2.00e-04)"
    # by a millionth in a thousand steps
    found = Made(monkeypatch, [1.1e-6, 1e-6]).simulation.run_to_steady_state()
    assert (found.converged, found.steps) == (True, 2000)


@pytest.mark.parametrize("lowest", [1, 5])
def test_a_run_without_a_new_least_change_in_three_hundred_looks_is_given_up(monkeypatch, lowest):
    changes = [2.0] * (lowest - 1) + [1.0] + [1.5, 1.2] * 999
    found = Made(monkeypatch, changes).simulation.run_to_steady_state(interval=10)
    assert (found.converged, found.steps) == (False, 10 * (lowest + 300))
    assert "NOT converged" in repr(found)


def test_a_run_that_changes_less_and_less_goes_on_to_its_limit(monkeypatch):
    found = Made(monkeypatch, (1 / k for k in range(1, 10_000))).simulation.run_to_steady_state()
    assert (found.converged, found.steps, len(found.history)) == (False, 2_000_000, 2000)


def test_the_mean_density_is_that_of_all_nodes():
    problem = Problem(Model(D2Q9, PERIODIC_BOX), (5, 4, 1), 0.8, solid=np.arange(20).reshape(1, 4, 5) < 7)
    simulation = Simulation(problem, PlainDevice(), precision="double")
    simulation.set_populations(np.array(D2Q9.weights)[:, None, None, None] * 1.25)
    assert simulation.mean_density() == pytest.approx(1.25)
