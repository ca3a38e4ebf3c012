"""How a tank's walls are made of ghosts: their layers, a tank open above, ghosts without numbers of their own."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.plain import PlainCore
from helpers.sph_systems import shaken

from repro.errors import InputError
from repro.parallel import select
from repro.sph.cases import DamBreak
from repro.sph.ghosts import wall_sites
from repro.sph.simulation import Simulation
from repro.sph.system import Walls

WATER = shaken(3, tank=(4, 3, 4), water=(2, 2, 3))


def ghosts(system) -> np.ndarray:
    """Where the ghosts in the walls are, in spacings."""
    return wall_sites(system).position / system.resolution.spacing


def test_the_papers_tank_has_its_ten_thousand_of_fluid_and_nearly_its_five_thousand_ghosts():
    system = DamBreak.of_paper().system()
    assert system.count == 10_000
    assert len(ghosts(system)) == 4_744
    # a tank that is full to its edge is not warned of a lid that it has not
    assert system.depth == pytest.approx(system.tank[2])


@pytest.mark.parametrize(("layers", "lid", "expected"), [(1, True, 6 * 5 * 6 - 48), (2, False, 8 * 7 * 6 - 48)])
def test_walls_have_so_many_layers_and_an_open_tank_none_above(layers, lid, expected):
    places = ghosts(replace(WATER, walls=Walls(layers, lid)))
    assert len(places) == expected
    assert places.min() == pytest.approx(0.5 - layers)
    assert places[:, 2].max() == pytest.approx(4 + layers - 0.5 if lid else 3.5)
    assert places[:, 0].max() == pytest.approx(4 + layers - 0.5)
    # a bit for each axis along which a ghost lies beyond a wall
    beyond = (places < 0) | (places > (4, 3, 4))
    np.testing.assert_array_equal(wall_sites(replace(WATER, walls=Walls(layers, lid))).kind, beyond @ [1, 2, 4])


def test_by_default_walls_are_as_thick_as_the_support():
    # 2.6 spacings
    assert ghosts(WATER).min() == pytest.approx(-2.5)


@pytest.mark.parametrize("lid", [True, False])
def test_a_particle_may_rise_over_the_edge_of_an_open_tank_only(lid):
    velocity = np.tile([0.0, 0.0, 8.0], (WATER.count, 1))
    position = WATER.position + np.array([0, 0, 0.015])
    system = replace(WATER, position=position, velocity=velocity, time_step=4e-5, walls=Walls(1, lid, still=True))
    simulation = Simulation(system, select("serial"), boundary="ghosts")
    simulation.step(100)
    highest = simulation.particles()["position"][:, 2].max() - system.tank[2]
    # a lid's spring gives way by less than half a spacing
    assert bool(highest < system.resolution.spacing / 2) is lid
    assert system.tank[2] + highest < system.ceiling + system.resolution.spacing / 2


def test_still_ghosts_are_not_passed_over_and_keep_no_velocity():
    found = {}
    for still in (False, True):
        simulation = Simulation(replace(WATER, walls=Walls(1, still=still)), PlainCore())
        simulation.step(1)
        found[still] = simulation
    assert set(found[False].parts) - set(found[True].parts) == {"ghosts in walls"}
    assert np.abs(found[False].walls.u).max() > 0.01
    assert not found[True].walls.u.any()
    # the fluid feels them all the same
    without = Simulation(WATER, PlainCore(), boundary="none")
    without.step(1)
    pushed = [each.particles()["acceleration"] for each in (found[True], without)]
    assert np.abs(pushed[0] - pushed[1]).max() > 1


def test_walls_of_no_layers_that_there_are_are_refused():
    with pytest.raises(InputError, match="layers = -1"):
        Walls(layers=-1)
