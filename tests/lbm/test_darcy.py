"""What drives a flow through a porous medium, and when its permeability counts as steady; nothing flows here."""

from types import SimpleNamespace
from weakref import WeakSet

import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainDevice

from repro.errors import DivergenceError
from repro.lbm.media import PoreSpace
from repro.lbm.porous import driven as flows
from repro.lbm.porous.permeability import flow_through, in_units
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import Permeability, PorousFlow
from repro.papers.porous.media import permeability

SOLID = np.zeros((2, 4, 3), bool)
SOLID[:, 0] = True


@pytest.mark.parametrize("reynolds", [0.01, 1.0])
@pytest.mark.parametrize("viscosity", [1 / 6, 0.1])
def test_the_force_drives_a_flow_of_the_reynolds_number_that_is_asked_for(reynolds, viscosity):
    space = PoreSpace(SOLID)
    # two faces a row of four voxels, of which the estimate counts two thirds; three of four voxels are pores
    surface, porosity = 2 / 3 * 2 / 4, 3 / 4
    k = porosity**3 / (5 * surface**2)
    darcy_velocity = k * flows.driving_force(space, viscosity, reynolds) / viscosity
    assert darcy_velocity * np.sqrt(k) / viscosity == pytest.approx(reynolds)


def test_a_force_without_a_reynolds_number_creeps():
    space = PoreSpace(SOLID)
    assert flows.driving_force(space, 0.1) == pytest.approx(flows.driving_force(space, 0.1, 0.01))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_permeability_is_steady_when_it_changes_little_against_itself(monkeypatch, scale):
    flow = PorousFlow(PorousProblem(PoreSpace(SOLID), 0.8, (1e-6, 0.0, 0.0)), PlainDevice(), strategy="sparse")
    values = iter(scale * np.array([1.0, 2.0, 1.999, 1.9985, 1.9984]))
    monkeypatch.setattr(flow, "step", lambda count: setattr(flow, "steps", flow.steps + count))
    monkeypatch.setattr(flow, "permeability", lambda: next(values))
    found = flow.run_to_steady_permeability(tolerance=4e-4, interval=10)
    # the changes are 1/2, 5.0e-4, 2.5e-4 of the value itself
    assert (found.converged, found.steps) == (True, 40)
    np.testing.assert_allclose(found.history, [(10, scale), (20, 2 * scale), (30, 1.999 * scale), (40, 1.9985 * scale)])


def test_on_a_finer_grid_permeability_is_that_of_the_images_own_voxels(monkeypatch):
    refined = []

    def ran(space, device, **options):
        refined.append(space.shape)
        # in squared voxels of the finer grid, and a little more on the coarsest one
        times = space.shape[0] // 3
        result = SimpleNamespace(steps=1, converged=True)
        return SimpleNamespace(k=0.5 * times**2 * (1.1 if times == 1 else 1.0), result=result)

    monkeypatch.setattr(permeability, "flow_through", ran)
    table = permeability.resolution_check(SOLID, None, times=(1, 2, 4))
    assert refined == [(3, 4, 2), (6, 8, 4), (12, 16, 8)]
    assert list(table["k"]) == pytest.approx([0.55, 0.5, 0.5])
    assert list(table["change"])[1:] == pytest.approx([1 / 1.1 - 1, 0.0])
    rock = permeability.rock_table(SOLID, None, 2e-6, times=(2,))
    assert (rock["square metres"][0], rock["millidarcy"][0]) == in_units(0.5, 2e-6)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (-0.13, "k = 9,000 millidarcy = 9e-12 m^2 along x (-13 % on the last refinement)"),
        (0.011, "k = 9,400 millidarcy"),
        (-0.002, "k = 9,370 millidarcy"),
        (0.0, "k = 9,375 millidarcy"),
        (np.nan, "k = 9,400 millidarcy = 9.3e-12 m^2 along x (one grid, no refinement)"),
    ],
)
def test_no_digit_is_printed_that_the_last_refinement_changed(change, text):
    best = pd.Series({"millidarcy": 9374.519, "square metres": 9.251931e-12, "change": change})
    assert permeability.with_its_digits(best, "x").startswith(text)


class Strong:
    """A flow whose Mach number and spread of densities go with the square and with the cube of the force."""

    made = ()

    def __init__(self, problem, device, *, strategy, precision, ranks):
        assert ranks is None
        self.problem, self.strategy, self.precision = problem, strategy, precision
        Strong.made += (self,)

    @property
    def force(self):
        return max(self.problem.force)

    def run_to_steady_permeability(self, *, history, after, **options):
        assert (history, after) == ((), None)
        self.options = options
        if self.force > 1e-3:
            raise DivergenceError("it blew up")
        share = self.force / 1e-4
        return Permeability(2.5, True, 7, (), 4e-6, 0.1 * share**2, self.spread * share**3, 1.01)

    def fields(self):
        return None, np.full((3, 2, 4, 3), 8e-6)

    def gathered(self, values):
        return values


@pytest.fixture
def strong(monkeypatch):
    monkeypatch.setattr(flows, "PorousFlow", Strong)
    monkeypatch.setattr(Strong, "made", ())
    monkeypatch.setattr(Strong, "spread", 0.001, raising=False)
    monkeypatch.setattr(flows, "gentle_force", lambda space, viscosity, along: 2e-2)
    return Strong


def test_a_force_is_lessened_until_k_does_not_depend_on_it(strong):
    """A hundredth where the flow diverges; where it is too fast, half of what its Mach number would allow."""
    found = flow_through(PoreSpace(SOLID), PlainDevice())
    second = 0.5 * 2e-4 * 0.03 / (0.1 * 2**2)
    assert [flow.force for flow in strong.made] == pytest.approx([2e-2, 2e-4, second])
    assert (found.force, found.doubts) == (pytest.approx(second), "")
    # or of what the densities would
    strong.spread, strong.made = 0.1, ()
    third = 0.5 * 2e-4 * 0.01 / (0.1 * 2**3)
    assert flow_through(PoreSpace(SOLID), PlainDevice()).force == pytest.approx(third)


def test_no_attempt_keeps_the_flow_of_the_one_before(strong, monkeypatch):
    """A flow refers to itself: nothing but the collector frees its arrays."""
    alive, forces = WeakSet(), []

    class Knot(Strong):
        def __init__(self, problem, device, **options):
            assert len(alive) == 0
            self.problem, self.itself = problem, self
            alive.add(self)
            forces.append(self.force)

    monkeypatch.setattr(flows, "PorousFlow", Knot)
    flow_through(PoreSpace(SOLID), PlainDevice())
    assert len(forces) == 3


def test_four_attempts_are_made(strong, monkeypatch):
    monkeypatch.setattr(flows, "gentle_force", lambda space, viscosity, along: 2e5)
    with pytest.raises(DivergenceError, match="it blew up"):
        flow_through(PoreSpace(SOLID), PlainDevice())
    assert [flow.force for flow in strong.made] == pytest.approx([2e5, 2e3, 20, 0.2])
    strong.made = ()
    monkeypatch.setattr(flows, "gentle_force", lambda space, viscosity, along: 90.0)
    found = flow_through(PoreSpace(SOLID), PlainDevice())
    assert [flow.force for flow in strong.made] == pytest.approx([90, 0.9, 9e-3, 9e-5])
    # the last force is the one that is doubted
    assert found.doubts.startswith("the force 9e-05 drives Mach 0.081 and densities 0.00073 apart")


def test_a_force_that_is_given_is_taken_as_it_is(strong):
    found = flow_through(PoreSpace(SOLID), PlainDevice(), force=4e-4)
    assert [flow.force for flow in strong.made] == [4e-4]
    assert found.force == 4e-4
    assert found.doubts == (
        "the force 0.0004 drives Mach 1.6 and densities 0.064 apart (at most 0.03 and 0.01), so that k depends on it"
    )
    with pytest.raises(DivergenceError):
        flow_through(PoreSpace(SOLID), PlainDevice(), force=2e-3)
    assert len(strong.made) == 2


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_what_is_asked_for_is_what_flows(strong, monkeypatch, axis):
    asked, solid = [], np.zeros((2, 4, 3), bool)
    solid[1, 2, 1] = True
    monkeypatch.setattr(flows, "gentle_force", lambda *arguments: asked.append(arguments) or 1e-6)
    settings = {"collision": "bgk", "forcing": "guo", "walls": "modified", "magic": 0.2}
    run = {"tolerance": 3e-4, "interval": 17}
    found = flow_through(
        PoreSpace(solid),
        PlainDevice(),
        axis=axis,
        sides="wall",
        relaxation_time=0.8,
        precision="double",
        keep_velocity=True,
        **settings,
        **run,
    )
    (flow,) = strong.made
    along = "xyz".index(axis)
    assert flow.problem.force == tuple(1e-6 * (k == along) for k in range(3))
    assert {name: getattr(flow.problem, name) for name in settings} == settings
    assert flow.problem.relaxation_time == 0.8
    faces = tuple("periodic" if k == along else "modified" for k in range(3) for _ in range(2))
    assert (flow.problem.boundaries.faces, flow.precision, flow.options) == (faces, "double", run)
    ((space, viscosity, which),) = asked
    assert (space.solid.sum() > 1, viscosity, which) == (True, pytest.approx(0.1), along)
    # in units of the Darcy velocity, and of the image without what is behind its faces
    np.testing.assert_allclose(found.velocity, 2.0)
    assert (found.porosity, found.k, found.reynolds) == (23 / 24, 2.5, pytest.approx(4e-6 * np.sqrt(2.5) / 0.1))
    # the sparse list knows walls on the nodes; in place half of the memory serves
    assert flow.strategy == "sparse"
    plain = flow_through(PoreSpace(solid), PlainDevice())
    flow, problem = strong.made[-1], strong.made[-1].problem
    assert (flow.strategy, flow.precision, plain.velocity) == ("sparse in place", "single", None)
    assert (problem.collision, problem.forcing, problem.walls, problem.magic) == ("mrt", "luo", "half-way", 3 / 16)
    assert (problem.storage, problem.relaxation_time, set(problem.boundaries.faces)) == ("deviation", 1.0, {"periodic"})
    assert flow.options == {"tolerance": 1e-5, "interval": 1000}


@pytest.mark.parametrize(("mach", "spread", "doubted"), [(0.03, 0.01, False), (0.031, 0.01, True), (0.03, 0.011, True)])
def test_a_flow_is_doubted_beyond_a_mach_number_or_a_spread_of_densities(mach, spread, doubted):
    run = Permeability(1.0, False, 9, (), 1e-6, mach, spread)
    doubts = flows.FlowThrough(run, 1e-6, 0.5, 0.01).doubts
    assert doubts.startswith("the flow is not steady after 9 steps")
    assert (" and the force 1e-06 drives" in doubts) == doubted


def test_a_gentle_force_piles_up_no_densities_along_its_own_axis():
    """Of a wide slit that a larger force would drive: 3 F L is a hundredth at most."""
    solid = np.zeros((4, 400, 900), bool)
    solid[:, 0] = True
    space = PoreSpace(solid)
    for along, length in enumerate((900, 400, 4)):
        least = min(flows.driving_force(space, 0.9), 0.01 / 3 / length)
        assert flows.gentle_force(space, 0.9, along) == pytest.approx(least)
    assert flows.gentle_force(space, 0.9) == flows.gentle_force(space, 0.9, 0)
    # without any surface the estimate has no end
    assert np.isfinite(flows.driving_force(PoreSpace(np.zeros((3, 3, 3), bool)), 0.1))


def test_a_permeability_is_of_the_flow_along_its_force_and_of_the_mean_density(monkeypatch):
    """By hand: pores that flow askew to an oblique force, one of them fast and dense."""
    force = np.array([3e-6, 0.0, 4e-6])
    flow = PorousFlow(PorousProblem(PoreSpace(SOLID), 0.8, tuple(force)), PlainDevice(), strategy="branches")
    fields = np.zeros((4, SOLID.size))
    pores = np.flatnonzero(~SOLID.ravel())
    fields[:, pores] = np.array([0.004, 0.01, 0.02, -0.03])[:, None]
    fields[:, pores[5]] = -0.1, 0.1, 0.2, 0.2
    monkeypatch.setattr(flow, "_update_fields", lambda: fields)
    monkeypatch.setattr(flow, "step", lambda count: setattr(flow, "steps", flow.steps + count))
    mean = (17 * np.array([0.01, 0.02, -0.03]) + [0.1, 0.2, 0.2]) / 24
    density = 1 + (17 * 0.004 - 0.1) / 18
    np.testing.assert_allclose(flow.darcy_velocity(), mean)
    assert flow.mean_density() == pytest.approx(density)
    k = mean @ force / (force @ force) * density * 0.1
    assert flow.permeability() == pytest.approx(k)
    found = flow.run_to_steady_permeability(interval=5)
    assert (found.value, found.darcy_velocity) == (pytest.approx(k), pytest.approx(mean @ force / 5e-6))
    assert (found.mach, found.density_spread) == (pytest.approx(0.3 * np.sqrt(3)), pytest.approx(0.104))
    assert (found.mean_density, found.converged, found.steps) == (pytest.approx(density), True, 10)
    for fast, refused in ((0.57, False), (0.58, True)):
        fields[1:, pores[5]] = 0, 0, fast
        if refused:
            with pytest.raises(DivergenceError, match="force = 5e-06 drives Mach 1 by step 25: use a smaller force"):
                flow.run_to_steady_permeability(interval=5)
        else:
            flow.run_to_steady_permeability(interval=5)


def test_a_permeability_that_never_settles_is_given_up_at_the_limit(monkeypatch):
    flow = PorousFlow(PorousProblem(PoreSpace(SOLID), 0.8, (1e-6, 0.0, 0.0)), PlainDevice())
    monkeypatch.setattr(flow, "step", lambda count: setattr(flow, "steps", flow.steps + count))
    monkeypatch.setattr(flow, "_update_fields", lambda: np.array([[0.0], [0.3], [0.0], [0.0]]))
    falling = iter(2.0 ** -np.arange(99.0))
    monkeypatch.setattr(flow, "permeability", lambda: next(falling))
    found = flow.run_to_steady_permeability(interval=10, limit=30)
    assert (found.converged, found.steps, len(found.history)) == (False, 30, 3)
    # taken up there again it takes no step, and neither does one that was steady when it was stopped
    for history, converged in ((found.history, False), (((10, 1.0), (20, 1.0)), True)):
        again = flow.run_to_steady_permeability(interval=10, limit=30 + 10 * converged, history=history)
        assert (again.steps, again.history, again.value) == (30, history, history[-1][1])
        assert (again.converged, again.mach) == (converged, pytest.approx(0.3 * np.sqrt(3)))
    # by less than a hundred-thousandth within a thousand steps, unless another is asked for
    values = iter([1.0, 1 + 1.1e-5, 1 + 2e-5, 7.0])
    monkeypatch.setattr(flow, "permeability", lambda: next(values))
    found = flow.run_to_steady_permeability()
    assert (found.converged, found.steps) == (True, 3030)
