"""All searches find the neighbours that a comparison with every particle finds, in one order.

A particle outside the tank is refused by its system, or stops the run; one that leaves the grid comes in again on the
other side, since the grid is periodic, so that no search reads beyond its arrays.
"""

import numpy as np
import pytest
from helpers.plain import PlainDevice
from hypothesis import given, settings
from hypothesis import strategies as some

from repro.errors import InputError
from repro.particles.cells import cell_of
from repro.particles.position import Units
from repro.sph.fluid import Fluid, Resolution
from repro.sph.ghosts import Sites, make_ghosts, no_ghosts
from repro.sph.pair import separation, vector_of
from repro.sph.state import make_state, numbers
from repro.sph.strategies import STRATEGIES
from repro.sph.strategies.lists import around
from repro.sph.sums import located
from repro.sph.system import System

REAL = np.float64


def system_of(position):
    resolution = Resolution(0.1)
    return System(Fluid(), resolution, (0.8, 0.5, 0.7), position, np.zeros_like(position))


@some.composite
def places(draw, most=25):
    """Positions in the tank, no two at one place: scattered, in a corner, in a cell, or in planes between cells."""
    generator = np.random.default_rng(draw(some.integers(0, 2**31)))
    count = draw(some.integers(1, most))
    position = generator.uniform(0, (0.8, 0.5, 0.7), (count, 3))
    kind = draw(some.sampled_from(["scattered", "crowded", "in one cell", "on faces"]))
    system = system_of(np.full((1, 3), 0.1))
    width = np.array(system.box) / system.cells.shape
    if kind == "crowded":
        position *= 0.3
    if kind == "in one cell":
        corner = np.ceil(system.margin / width) * width - system.margin
        position = corner + width * position / (0.81, 0.51, 0.71)
    if kind == "on faces":
        faces = np.round((position + system.margin) / width) * width - system.margin
        inside = (faces >= 0) & (faces <= system.tank)
        position = np.where(inside, faces, position)
    # fluid must not overlap
    kept = []
    for place in position:
        if all(np.linalg.norm(place - other) > 0.03 for other in kept):
            kept.append(place)
    return np.array(kept)


def collect(real):
    """Adds the numbers of the particles within the support."""
    apart = separation(real)

    def visit(found, me, j, species, p):
        _, square = apart(me, j, species, p)
        return (*found, int(j)) if square < p.reach else found

    return visit


def neighbours(strategy, system, others):
    """For each fluid particle by id: the ids of its fluid neighbours, and its neighbours among `others` species."""
    device, module = PlainDevice(), STRATEGIES[strategy]
    state = make_state(device, REAL, system, np.zeros(system.count))
    lists = module.lists(device, system.cells, state, REAL)
    for launch in lists.parts.values():
        launch()
    fluid, p, cells = state.species(lists.starts, lists.members), numbers(system, REAL), system.cells.shape
    still = [module.still(device, species) for species in others]
    total, at, found = around(REAL, collect(REAL), module.walk), located(REAL), {}
    for i in range(system.count):
        me = vector_of(state.r, i, state.count)
        where = at(me, cells)
        near = [int(state.ids[j]) for j in total((), me, where, fluid, p, cells)]
        found[int(state.ids[i])] = near, [total((), me, where, species, p, cells) for species in still]
    return found


def by_hand(here, there, support):
    distance = np.linalg.norm(here - there, axis=1)
    # who lies on the edge of the support may be counted or not
    sure, maybe = distance < support * (1 - 1e-9), distance < support * (1 + 1e-9)
    return set(np.flatnonzero(sure)), set(np.flatnonzero(maybe))


@settings(max_examples=25, deadline=None)
@given(position=places(), floating=places(most=8))
def test_every_search_finds_each_kinds_neighbours_and_in_the_same_order(position, floating):
    system, device = system_of(position), PlainDevice()
    # a further kind of particles is one more call
    third = make_ghosts(device, REAL, system, Sites(floating, np.zeros(len(floating), np.int32)))
    nobody = no_ghosts(device, REAL, system)
    found = [neighbours(strategy, system, [third, nobody]) for strategy in STRATEGIES]
    assert all(other == found[0] for other in found)
    there = Units(REAL).coordinates(third.r.reshape(3, -1).T.copy(), system.box) - system.margin
    for i, (fluid, (others, none)) in found[0].items():
        for near, places_ in ((fluid, position), (others, there)):
            sure, maybe = by_hand(position[i], places_, system.resolution.support)
            assert len(near) == len(set(near))
            assert sure <= set(near) <= maybe
        assert none == ()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_particle_is_its_own_neighbour_once(strategy):
    found = neighbours(strategy, system_of(np.array([[0.4, 0.2, 0.3]])), [])
    assert found == {0: ([0], [])}


@given(x=some.integers(-(2**31), 2**31 - 1), y=some.integers(-(2**31), 2**31 - 1), z=some.integers(-(2**31), 2**31 - 1))
def test_wherever_a_particle_is_it_is_in_a_cell_of_the_grid(x, y, z):
    cells = system_of(np.full((1, 3), 0.1)).cells
    number = cell_of(np.float32)(*map(np.int32, (x, y, z)), cells.shape)
    assert 0 <= number < cells.count


@pytest.mark.parametrize("place", [(-0.001, 0.2, 0.3), (0.4, 0.501, 0.3), (0.4, 0.2, 40.0)])
def test_a_particle_outside_the_tank_is_refused(place):
    with pytest.raises(InputError, match="1 particles lie outside the tank"):
        system_of(np.array([place]))


def test_who_was_near_is_found_again_though_more_are_in_a_row_than_can_be_kept():
    empty = system_of(np.full((1, 3), 0.1))
    width = np.array(empty.box) / empty.cells.shape
    corner = np.ceil(empty.margin / width) * width - empty.margin
    index = np.stack(np.meshgrid(*map(np.arange, (12, 5, 4)), indexing="ij"), -1).reshape(-1, 3)
    position = corner + 0.01 + 0.03 * index
    system, device, module = system_of(position), PlainDevice(), STRATEGIES["runs"]
    state = make_state(device, REAL, system, np.zeros(system.count))
    lists = module.lists(device, system.cells, state, REAL)
    for launch in lists.parts.values():
        launch()
    fluid, p = state.species(lists.starts, lists.members), numbers(system, REAL)
    fluid = fluid._replace(near=np.zeros(module.KEPT * system.count, np.uint32))
    at, found = located(REAL), {}
    for name in ("walk", "walk_and_keep", "walk_again"):
        total = around(REAL, collect(REAL), getattr(module, name))
        for i in range(system.count):
            me = vector_of(state.r, i, state.count)
            where = (*at(me, system.cells.shape), i, system.count)
            found[name, i] = total((), me, where, fluid, p, system.cells.shape)
    # all of them are in one row
    assert system.count > module.WORD * module.WORDS
    assert np.count_nonzero(np.diff(lists.starts)) <= 3
    for i in range(system.count):
        assert found["walk", i] == found["walk_and_keep", i] == found["walk_again", i]
        assert i in found["walk", i]
