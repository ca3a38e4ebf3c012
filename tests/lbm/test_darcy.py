"""What drives a flow through a porous medium, and when its permeability counts as steady; nothing flows here."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.plain import PlainDevice

from repro.lbm.media import PoreSpace
from repro.lbm.porous.permeability import driving_force, in_units
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
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
    darcy_velocity = k * driving_force(space, viscosity, reynolds) / viscosity
    assert darcy_velocity * np.sqrt(k) / viscosity == pytest.approx(reynolds)


def test_a_force_without_a_reynolds_number_creeps():
    space = PoreSpace(SOLID)
    assert driving_force(space, 0.1) == pytest.approx(driving_force(space, 0.1, 0.01))


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
