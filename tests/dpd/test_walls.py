"""Walls: where they are, what they are made of, and that no fluid gets through."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import forces_by_hand as by_hand
from hypothesis import given, settings
from hypothesis import strategies as some

from repro.dpd.cases import Channel, Poiseuille, lattice
from repro.dpd.simulation import Simulation
from repro.dpd.walls import Walls, make_bounce, nearest_wall
from repro.errors import InputError
from repro.parallel import select
from repro.particles.position import Units
from repro.particles.random import Stream

#: thermal energy of what a wall turns back
KT = 0.6

SMALL = Channel(12.0, 3.0, 10.0, 5.0, 4.0, frozen=None)


@pytest.mark.parametrize(
    ("size", "fluid", "frozen"), [((6, 4, 8), 768, 96), ((64, 8, 32), 65536, 2048), ((256, 16, 32), 524288, 16384)]
)
def test_table_4s_domains_have_its_numbers_of_particles(size, fluid, frozen):
    system = Poiseuille(*size).system()
    assert (system.moving, system.count - system.moving) == (fluid, frozen)


def test_the_channel_has_the_papers_numbers_of_particles():
    channel = Channel()
    assert round(channel.fluid.density * channel.volume) == 1130496
    assert channel.volume == 80 * 48 * 64 + 48 * 48 * 16


def test_the_channels_walls_are_as_dense_as_the_fluid_and_outside_it():
    system = SMALL.system()
    frozen = system.position[system.moving :]
    depth = SMALL.walls.depth(frozen[:, 0], frozen[:, 2])
    assert depth.max() < 0
    fluid = system.position[: system.moving]
    assert SMALL.walls.depth(fluid[:, 0], fluid[:, 2]).min() >= 0
    # three planes half a cutoff radius apart, along the perimeter of the section
    perimeter = 2 * 12 + 2 * (10 - 4)
    assert len(frozen) == 4 * 3 * 1.5 * perimeter
    # each part of the fluid, wide, narrow and wide again, has its share
    parts = np.histogram(fluid[:, 0], [0, 3.5, 8.5, 12])[0]
    np.testing.assert_array_equal(parts, 4 * 3 * np.array([3.5 * 10, 5 * 4, 3.5 * 10]))


@settings(deadline=None)
@given(box=some.tuples(*[some.integers(3, 6)] * 3), bottom=some.sampled_from([0.5, 1.0, 2.0]))
def test_the_lattice_has_four_sites_in_a_unit_cube_at_least_half_a_diagonal_apart(box, bottom):
    sites = lattice(tuple(map(float, box)), bottom, bottom + 3.0)
    assert len(sites) == 4 * np.prod(box)
    apart = sites[:, None] - sites[None, : len(sites) // 4]
    apart -= np.array(box) * np.round(apart / box)
    distance = np.sqrt((apart**2).sum(-1))
    assert distance[distance > 1e-9].min() > np.sqrt(0.5) - 1e-9


@settings(deadline=None)
@given(height=some.floats(3, 9), thickness=some.floats(0.5, 2))
def test_both_plates_have_their_first_plane_at_the_same_depth_whatever_the_height(height, thickness):
    case = Poiseuille(3, 3, height, thickness=thickness)
    system = case.system()
    z = system.position[system.moving :, 2] - case.walls.bottom
    below, above = -z[z < 0].max(), z[z > height].min() - height
    assert below == pytest.approx(above, abs=1e-9)
    assert 0.2 < below < 0.3


def distance_by_sampling(walls, x, z, length, height):
    """Distance to the surface, from a dense set of its points; only for points in the fluid."""
    t = np.linspace(0, 1, 4001)
    left, right = walls.middle_x - walls.half_length, walls.middle_x + walls.half_length
    low, high = walls.middle_z - walls.half_gap, walls.middle_z + walls.half_gap
    lines = [(0, walls.bottom, length, walls.bottom), (0, walls.top, length, walls.top)]
    lines += [(left, low, right, low), (left, high, right, high)]
    lines += [(side, walls.bottom, side, low) for side in (left, right)]
    lines += [(side, high, side, walls.top) for side in (left, right)]
    return min(np.hypot(a + t * (c - a) - x, b + t * (d - b) - z).min() for a, b, c, d in lines)


@settings(deadline=None)
@given(x=some.floats(0, 12), z=some.floats(0, 10))
def test_the_distance_from_the_wall_is_that_to_its_nearest_point_and_the_normal_points_away(x, z):
    walls = SMALL.walls
    z += walls.bottom
    depth, nx, nz = nearest_wall(x, z, walls.numbers(float, 1.0, SMALL.box))
    assert nx**2 + nz**2 == pytest.approx(1)
    if depth > 1e-3:
        assert depth == pytest.approx(distance_by_sampling(walls, x, z, 12, 10), abs=2e-3)
    if abs(depth) > 1e-3:
        # a step along the normal leads away from the wall, or out of it
        further = nearest_wall(x + 1e-4 * nx, z + 1e-4 * nz, walls.numbers(float, 1.0, SMALL.box))[0]
        assert further > depth - 1e-6 or abs(z - walls.middle_z) < 1e-3 or depth > walls.half_gap - 1e-3


@settings(deadline=None)
@given(x=some.floats(0, 12), number=some.integers(0, 10**6), step=some.integers(0, 10**6))
def test_in_the_layer_velocities_point_into_the_fluid_and_elsewhere_they_stay(x, number, step):
    walls, turn = SMALL.walls, make_bounce(np.float64)
    numbers = walls.numbers(np.float64, 1.0, SMALL.box)

    def place(x, z):
        return Units(np.float64).of(np.array([[x, 0, z]]), SMALL.box)[0, [0, 2]]

    with np.errstate(over="ignore"):
        for z, sign in ((walls.bottom + 0.05, 1), (walls.bottom - 0.4, 1), (walls.top - 0.05, -1)):
            velocity = turn(*place(x, z), (0.1, 0.2, 0.3), number, (1, step), numbers)
            if nearest_wall(x, z, numbers)[1] == 0:
                assert velocity[2] * sign >= 0
        assert turn(*place(1.0, 6.0), (0.1, 0.2, 0.3), number, (1, step), numbers) == (0.1, 0.2, 0.3)


@pytest.mark.parametrize("case", [Poiseuille(6.0, 4.0, 6.0, drive=0.05), SMALL], ids=["plates", "channel"])
def test_no_fluid_gets_through_a_wall_and_no_frozen_particle_moves(case):
    system = case.system()
    simulation = Simulation(system, select("serial"), strategy="planes")
    simulation.step(600)
    now = simulation.particles()["position"]
    fluid = now[: system.moving]
    # a particle is turned back in the step after it has entered the wall: it comes a few of its moves deep
    assert system.walls.depth(fluid[:, 0], fluid[:, 2]).min() > -0.3
    np.testing.assert_allclose(now[system.moving :], system.position[system.moving :], atol=1e-6)


def turned_back(count: int, step: int = 3) -> np.ndarray:
    """Velocities of particles at rest at the lower plate, of shape (count, 3), in the order of their ids."""
    case = Poiseuille(4.0, 4.0, 4.0)
    numbers = case.walls.numbers(np.float64, KT, case.box)
    x, _, z = Units(np.float64).of(np.array([[1.0, 1.0, case.walls.bottom + 0.05]]), case.box)[0]
    turn = make_bounce(np.float64)
    with np.errstate(over="ignore"):
        return np.array([turn(x, z, (0.0, 0.0, 0.0), number, (1, step), numbers) for number in range(count)])


def test_a_wall_gives_three_independent_maxwellian_components_one_of_them_into_the_fluid():
    velocity = turned_back(3000)
    scatter = 1 / np.sqrt(len(velocity))
    # the square of a component has the mean kT and the variance 2 (kT)^2, whichever way the component points
    assert np.abs((velocity**2).mean(0) - KT).max() < 4 * np.sqrt(2) * KT * scatter
    assert np.abs(velocity[:, :2].mean(0)).max() < 4 * np.sqrt(KT) * scatter
    assert (velocity[:, 2] >= 0).all()
    apart = np.corrcoef(np.abs(velocity).T) - np.eye(3)
    assert np.abs(apart).max() < 4 * scatter


def test_a_walls_numbers_are_those_of_its_streams_in_each_step():
    for step in (3, 4):
        along, across = (
            [by_hand.deviates(number, 0, (1, stream, step, by_hand.DELTA), 8) for number in range(5)]
            for stream in (Stream.WALL, Stream.WALL_NORMAL)
        )
        expected = np.array([(u, v, abs(w)) for (u, v), (w, _) in zip(along, across, strict=True)])
        np.testing.assert_allclose(turned_back(5, step), np.sqrt(KT) * expected, atol=1e-12)


def test_flows_between_walls_are_those_that_are_asked_for():
    case = Poiseuille(4.0, 3.0, 5.0, drive=0.07, thickness=1.2, layer=0.3)
    system = case.system()
    assert (system.box, system.drive, system.turn) == ((4.0, 3.0, 5.0 + 2.4 + 1), 0.07, np.inf)
    assert system.walls == Walls(1.2, 6.2, layer=0.3)
    fluid, frozen = system.position[: system.moving], system.position[system.moving :]
    # from end to end along each axis, and nowhere else
    np.testing.assert_allclose(fluid.min(0), [0, 0, 1.2], atol=0.2)
    np.testing.assert_allclose(fluid.max(0), [4.0, 3.0, 6.2], atol=0.2)
    # planes half a cutoff radius apart, the first a quarter behind the plate, none deeper than the wall
    depth = np.where(frozen[:, 2] < 3.7, 1.2 - frozen[:, 2], frozen[:, 2] - 6.2)
    assert sorted(set(depth.round(9))) == [0.25, 0.75]
    assert not system.velocity[system.moving :].any()
    default = Poiseuille()
    assert (default.length, default.width, default.height, default.drive) == (20.0, 10.0, 10.0, 0.02)
    assert (default.thickness, default.layer) == (0.5, 0.23)
    channel = Channel(12.0, 3.0, 10.0, 5.0, 4.0, frozen=None, drive=0.05, layer=0.4)
    assert channel.walls == Walls(2.0, 12.0, 6.0, 2.5, 2.0, 0.4)
    assert (channel.box, channel.system().drive, Channel().drive, Channel().layer) == (
        (12.0, 3.0, 15.0),
        0.05,
        0.02,
        0.23,
    )


def test_a_case_between_walls_has_limits():
    for thickness in (0.5, 5):
        Poiseuille(thickness=thickness)
    for thickness in (0.49, 5.01):
        with pytest.raises(InputError, match=f"thickness = {thickness}: must be a number from 0.5 to 5"):
            Poiseuille(thickness=thickness)
    for change in ({"narrow_length": 12.0}, {"gap": 10.0}):
        with pytest.raises(InputError, match="narrow part 12.0 of 12.0|gap 10.0 of 10.0: it must be lower"):
            replace(SMALL, **change)
    sites = lattice(SMALL.box, 2.0, 12.0)
    inside = int((SMALL.walls.depth(sites[:, 0], sites[:, 2]) < 0).sum())
    assert replace(SMALL, frozen=inside).system().count - SMALL.system().moving == inside
    with pytest.raises(InputError, match=f"{inside + 1} frozen particles: the walls have {inside} lattice sites"):
        replace(SMALL, frozen=inside + 1).system()


@pytest.mark.parametrize(
    ("walls", "half"), [({"bottom": 1, "top": 5}, 2), ({"bottom": 1, "top": 9, "half_length": 2, "half_gap": 1.5}, 1.5)]
)
def test_a_layer_is_thinner_than_half_of_the_narrowest_place(walls, half):
    Walls(**walls, layer=half - 0.01)
    for layer in (half, 0.0):
        with pytest.raises(InputError, match=f"layer = {layer:g}: it must be above 0 and below {half:g}, half the"):
            Walls(**walls, layer=layer)
    for change in ({"top": 1}, {"half_gap": 0.0}):
        with pytest.raises(InputError, match="no room for a fluid"):
            Walls(**walls | change)


def test_without_walls_nothing_is_near():
    walls = Walls()
    assert (walls.layer, walls.middle_x, walls.middle_z) == (0.1, 0.0, 0.0)
    assert np.isinf(walls.depth([0.0, 3.0, 9.0], [0.0, 5.0, -7.0])).all()
    assert Walls(1.0, 4.0).middle_z == 2.5
