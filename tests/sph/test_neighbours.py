"""All searches find the neighbours that a comparison with every particle finds, in one order.

A particle outside the tank is refused by its system, or stops the run; one that leaves the grid comes in again on the
other side, since the grid is periodic, so that no search reads beyond its arrays.
"""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.sph_systems import shaken
from hypothesis import given, settings
from hypothesis import strategies as some

from repro.errors import InputError
from repro.parallel import select
from repro.particles.candidates import WORD
from repro.particles.cells import cell_of
from repro.particles.position import Units
from repro.particles.sorted_cells import row_around
from repro.sph.fluid import Fluid, Resolution
from repro.sph.ghosts import Sites, make_ghosts, make_no_ghosts
from repro.sph.neighbour_sums import PARTICLE_TYPES
from repro.sph.pair import Position, separation, vector_of
from repro.sph.simulation import DENSITIES, Simulation
from repro.sph.state import make_state, numbers
from repro.sph.strategies import STRATEGIES, neighbour_list
from repro.sph.strategies.search import make_locate, make_sum_around
from repro.sph.strategies.sorted_cells import WORDS
from repro.sph.sum_kernels import listed, shared
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

    def pair_term(sums, target, j, species, p):
        _, square = apart(target.position, j, species, p)
        return (*sums, int(j)) if square < p.reach else sums

    return pair_term


def neighbours(strategy, system, others):
    """For each fluid particle by id: the ids of its fluid neighbours, and its neighbours among `others` species."""
    device, search = PlainDevice(), STRATEGIES[strategy]
    state = make_state(device, REAL, system, np.zeros(system.count))
    lists = search.lists(device, system.cells, state, REAL)
    for launch in lists.parts.values():
        launch()
    fluid, p, cells = state.species(lists.starts, lists.members), numbers(system, REAL), system.cells.shape
    static = [search.static(device, species) for species in others]
    total, locate, found = make_sum_around(REAL, collect(REAL), search.walk), make_locate(REAL), {}
    for i in range(system.count):
        target = Position(vector_of(state.r, i, state.count))
        cell = locate(target.position, i, state.count, cells)
        near = [int(state.ids[j]) for j in total((), target, cell, fluid, p, cells)]
        found[int(state.ids[i])] = near, [total((), target, cell, species, p, cells) for species in static]
    return found


def by_hand(here, there, support):
    distance = np.linalg.norm(here - there, axis=1)
    # what lies on the edge of the support may be counted or not
    sure, maybe = distance < support * (1 - 1e-9), distance < support * (1 + 1e-9)
    return set(np.flatnonzero(sure)), set(np.flatnonzero(maybe))


@settings(max_examples=25, deadline=None)
@given(position=places(), floating=places(most=8))
def test_every_search_finds_each_kinds_neighbours_and_in_the_same_order(position, floating):
    system, device = system_of(position), PlainDevice()
    # a further type of particles is one more call
    third = make_ghosts(device, REAL, system, Sites(floating, np.zeros(len(floating), np.int32)))
    empty = make_no_ghosts(device, REAL, system)
    found = [neighbours(strategy, system, [third, empty]) for strategy in STRATEGIES]
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


def test_cached_neighbours_are_found_again_though_more_are_in_a_row_than_can_be_cached():
    empty = system_of(np.full((1, 3), 0.1))
    width = np.array(empty.box) / empty.cells.shape
    corner = np.ceil(empty.margin / width) * width - empty.margin
    index = np.stack(np.meshgrid(*map(np.arange, (12, 5, 2)), indexing="ij"), -1).reshape(-1, 3)
    position = corner + 0.01 + 0.03 * index
    system, device, search = system_of(position), PlainDevice(), STRATEGIES["sorted cells"]
    state = make_state(device, REAL, system, np.zeros(system.count))
    lists = search.lists(device, system.cells, state, REAL)
    for launch in lists.parts.values():
        launch()
    fluid, p = state.species(lists.starts, lists.members), numbers(system, REAL)
    fluid = fluid._replace(cached_neighbours=np.zeros(search.cached_words * system.count, np.uint32))
    locate, found = make_locate(REAL), {}
    for name in ("walk", "first_walk", "second_walk"):
        total = make_sum_around(REAL, collect(REAL), getattr(search, name))
        for i in range(system.count):
            target = Position(vector_of(state.r, i, state.count))
            cell = locate(target.position, i, state.count, system.cells.shape)
            found[name, i] = total((), target, cell, fluid, p, system.cells.shape)
    # all of them are in one row
    assert system.count > WORD * WORDS
    assert np.count_nonzero(np.diff(lists.starts)) <= 3
    for i in range(system.count):
        assert found["walk", i] == found["first_walk", i] == found["second_walk", i]
        assert i in found["walk", i]


@pytest.mark.parametrize("room", [neighbour_list.ENTRIES, 5, 4, 3, 2, 1])
def test_a_list_holds_the_neighbours_in_their_order_and_rows_without_room_are_walked(monkeypatch, room):
    """Scattered fluid among ghosts of a wall, with room for 36 entries, for none, and for what lies between.

    A row has two entries here, so that two rows fill a list of four but for the one that ends it.
    """
    monkeypatch.setattr(neighbour_list, "ENTRIES", room)
    generator = np.random.default_rng(5)
    system, device, search = system_of(spread(generator, 60)), PlainDevice(), STRATEGIES["sorted cells"]
    state = make_state(device, REAL, system, np.zeros(system.count))
    lists = search.lists(device, system.cells, state, REAL)
    for launch in lists.parts.values():
        launch()
    walls = make_ghosts(
        device, REAL, system, Sites(generator.uniform((0, 0, -0.2), 0.3, (50, 3)), np.ones(50, np.int32))
    )
    species, p = (state.species(lists.starts, lists.members), walls), numbers(system, REAL)
    shape, table = system.cells.shape, np.full(2 * room * system.count, 77, np.uint32)
    # a type's number stands before its neighbours
    terms = tuple(partial(_tell, kind, collect(REAL)) for kind in (0, 1))

    def accumulate(sums, target, cell, row, species, p, cells):
        for term, kind in zip(terms, species, strict=True):
            sums = search.walk_on_gpu(REAL, term)(sums, target, cell, row, kind, p, cells)
        return sums

    write, visit = neighbour_list.make_neighbour_list(
        search.find(REAL), tuple(enumerate(terms)), (), lambda a, b: (*a, None, *b), accumulate
    )
    longest = 0
    for i in range(system.count):
        target = Position(vector_of(state.r, i, state.count))
        cell = make_locate(REAL)(target.position, i, state.count, shape)
        rows = [accumulate((), target, cell, row, species, p, shape) for row in range(9)]
        write(target, cell, species, p, shape, table)
        # each row is added up by itself, also where only ghosts lie below the first particle
        visited = [[]]
        for near in visit(target, cell, species, p, shape, table):
            visited.append([]) if near is None else visited[-1].append(near)
        assert [near for near in visited if near] == [list(near) for near in rows if near]
        # as many rows as have room beside the entry that ends the list, whose place is their number
        entries = np.cumsum([words(row, near, cell, species, shape) for row, near in enumerate(rows)])
        ends = int(np.flatnonzero(table[system.count + i :: 2 * system.count] == 0)[0])
        assert table[2 * ends * system.count + i] == (entries < room).sum()
        assert ends == max([0, *entries[entries < room]])
        longest = max(longest, len(sum(rows, ())))
    assert longest > 20


def words(row, near, cell, species, shape):
    """How many words of 32 candidates of a row have a neighbour."""
    found = 0
    for kind, each in enumerate(species):
        first, end = row_around(row, *cell[:3], each.starts, shape)
        found += len({(j - first) // 32 for k, j in near if k == kind and first <= j < end})
    return found


def _tell(kind, term, sums, target, j, species, p):
    """The pair term's numbers, each with the type of its particle."""
    return (*sums, *((kind, number) for number in term((), target, j, species, p)))


def spread(generator, count):
    """Places no two of which are too near."""
    kept = []
    while len(kept) < count:
        place = generator.uniform(0, (0.4, 0.3, 0.3))
        if all(np.linalg.norm(place - other) > 0.03 for other in kept):
            kept.append(place)
    return np.array(kept)


def test_both_sums_of_a_step_meet_the_same_types():
    """A list that the first one makes serves the second one."""
    for terms in PARTICLE_TYPES.values():
        assert bool(terms.density) == bool(terms.force)
        assert bool(terms.divergence) == bool(terms.work) == bool(terms.rate)


@pytest.mark.parametrize("density", DENSITIES)
def test_many_particles_have_the_bits_of_few_with_a_list_of_neighbours(density):
    """With ghosts in walls and air and an obstacle; a first sum that makes the list and a second one that reads it."""
    system = replace(shaken(water=(3, 2, 3), tank=(5, 2, 5)), obstacles=np.array([[0.09, 0.03, 0.05]]))

    def run(device, strategy, **more):
        simulation = Simulation(system, device, strategy=strategy, density=density, **more)
        simulation.step(2)
        return simulation.particles()

    expected = run(select("threads"), "linked list")
    result = run(PlainDevice(), "sorted cells", few=0)
    for name, array in expected.items():
        np.testing.assert_array_equal(result[name], array, err_msg=name)


def test_few_particles_share_their_sums_and_others_have_lists_as_long_as_their_places_have_32_bits():
    gpu, core = (SimpleNamespace(name=name) for name in ("cuda", "serial"))
    fast, plain = STRATEGIES["sorted cells"], STRATEGIES["cell table"]
    assert [shared(gpu, count, 50) for count in (1, 49, 50)] == [True, True, False]
    assert [listed(gpu, fast, count, 50) for count in (49, 50, 10**7)] == [False, True, True]
    # two words an entry
    most = 2**32 // (2 * neighbour_list.ENTRIES)
    assert [listed(gpu, fast, count, 50) for count in (most, most + 1)] == [True, False]
    assert not shared(core, 1, 50)
    assert not listed(core, fast, 60, 50)
    assert not listed(gpu, plain, 60, 50)
    assert fast.shares
    assert not plain.shares


def test_ghosts_lie_in_the_order_of_their_cells_and_those_of_a_cell_as_they_were_given():
    """Two thousand in a corner of the tank, numbered by their kinds."""
    system = system_of(np.full((1, 3), 0.1))
    place = np.random.default_rng(3).uniform(0, (0.4, 0.3, 0.5), (2000, 3))
    found = make_ghosts(PlainDevice(), REAL, system, Sites(place, np.arange(2000, dtype=np.int32)))
    cell = system.cells.of_units(Units(REAL).of(place + system.margin, system.box))
    np.testing.assert_array_equal(found.kind, sorted(range(2000), key=lambda i: (cell[i], i)))
    np.testing.assert_array_equal(np.diff(found.starts), np.bincount(cell, minlength=system.cells.count))
    there = Units(REAL).coordinates(found.r.reshape(3, -1).T.copy(), system.box) - system.margin
    np.testing.assert_allclose(there, place[found.kind], atol=1e-12)
    assert found.count == 2000
