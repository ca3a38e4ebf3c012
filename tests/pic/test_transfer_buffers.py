"""The paper's strategy: threads' domains that stay compact, baskets of blocks, and the bits of every other strategy."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.plain import PlainDevice
from helpers.rank_threads import ThreadRank, on_ranks

from repro.errors import CapacityError, InputError, MemoryLimitError
from repro.parallel import select
from repro.pic import benchmark
from repro.pic.air import transport
from repro.pic.air.collision_tables import Collisions
from repro.pic.air.medium import Air
from repro.pic.air.processes import PROCESSES
from repro.pic.constants import LIGHT
from repro.pic.mesh import ABSORBED, LEAVES, Mesh
from repro.pic.packing import put_records, record_type, to_records
from repro.pic.simulation import Simulation
from repro.pic.state import EMPTY, FRESH, bytes_each, make_particles
from repro.pic.strategies import baskets, domains_in_air, transfer_buffers
from repro.pic.strategies.domains import (
    LEFT,
    ON_THE_WAY,
    Counts,
    Threads,
    find_ends,
    make_settle,
    make_take,
    take_stock,
)
from repro.pic.strategies.host_loop import shares
from repro.pic.strategies.rank_exchange import RankExchange
from repro.pic.system import Electrons, Source, System

MILLI, STEP = 1e-3, 1.4e-12

#: two walls take up electrons, and a source makes up for them
CASE = System(
    Mesh((4, 3, 3), (MILLI, 1.2 * MILLI, 0.9 * MILLI), ("periodic", "conducting", "periodic")),
    STEP,
    source=Source(energy=2e5, weight=2e4, start=30, per_step=3),
    magnetic=(0.05, 0.02, 0.3),
    capacity=100,
)

#: the smallest system whose electrons cross faces
FEW = replace(CASE, source=replace(CASE.source, start=6, per_step=1), capacity=20)


def run(device, strategy, system=CASE, steps=20, **more):
    """A simulation after some steps."""
    simulation = Simulation(system, device, strategy=strategy, **more)
    simulation.step(steps)
    return simulation


def bits(simulation):
    """All that is the same whatever moved the particles."""
    fields = simulation.fields
    currents = fields.device.to_host(fields.arrays.currents)
    charges = simulation.device.to_host(simulation.charges)
    return simulation.particles() | fields.on_host() | {"currents": currents, "charges": charges}


def require_same_bits(one, other):
    one, other = bits(one), bits(other)
    assert len(one["ids"]) > 0
    assert np.abs(one["currents"]).max() > 0
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


def plain(**more):
    """The strategy for plain Python, which keeps the fields where it is."""
    return baskets(fields="device", **more)


@pytest.fixture(scope="module")
def expected():
    """What one thread a particle makes of the case."""
    return run(PlainDevice(), "global sums")


@pytest.mark.parametrize(
    ("read", "incoming", "outgoing", "expected"),
    [
        ((2, 3), (0,), (0,), [0, 0]),
        ((2, 2), (0,), (0,), [1, 0]),
        ((2, 3), (1,), (0,), [1, 0]),
        ((2, 3), (0,), (2,), [0, 1]),
    ],
)
def test_particles_are_on_the_way_until_all_are_read_and_no_basket_has_any(read, incoming, outgoing, expected):
    pointers = Threads(*(np.zeros(2, np.int32) for _ in Threads._fields))
    pointers.read[:], pointers.end[:] = read, (2, 3)
    stock = np.zeros(2, np.int32)
    take_stock(0, 2, pointers, Counts(np.array(incoming), np.array(outgoing), 4, 2, 2), stock)
    assert [stock[ON_THE_WAY], stock[LEFT]] == expected


def test_bits_are_those_of_one_thread_a_particle_on_every_device(device):
    # fields on the CPU, where the simulator's cross a bus; kernels in the simulator take their time
    tiny = device.simulated
    system, steps = (FEW, 2) if tiny else (CASE, 20)
    shape = {"blocks": 2, "threads": 3, "basket": 2, "every": 3}
    ours = run(device, baskets(**shape), system, steps, sort_every=7)
    require_same_bits(ours, run(PlainDevice() if tiny else device, "global sums", system, steps))


@pytest.mark.parametrize(
    ("blocks", "threads", "basket", "every", "sort_every"),
    [(1, 1, 1, 1, 0), (2, 3, 1, 2, 3), (3, 2, 5, 4, 0), (5, 16, 2, 1, 1)],
)
def test_neither_blocks_nor_threads_nor_baskets_change_a_bit(expected, blocks, threads, basket, every, sort_every):
    strategy = plain(blocks=blocks, threads=threads, basket=basket, every=every)
    require_same_bits(run(PlainDevice(), strategy, sort_every=sort_every), expected)


def test_no_particle_is_lost_or_doubled_in_a_periodic_box():
    mesh = replace(CASE.mesh, boundaries=("periodic",) * 3)
    system = replace(CASE, mesh=mesh, source=replace(CASE.source, start=9, per_step=2), capacity=31)
    simulation = Simulation(system, PlainDevice(), strategy=plain(blocks=2, threads=2, basket=1, every=2))
    for step in range(1, 11):
        simulation.step(1)
        np.testing.assert_array_equal(simulation.particles()["ids"], np.arange(9 + 2 * step))
        assert simulation.count == 9 + 2 * step


@pytest.mark.parametrize(("count", "air"), [(2, False), (3, False), (2, True)])
def test_between_ranks_particles_cross_in_the_midst_of_a_step_and_no_bit_changes(monkeypatch, count, air):
    monkeypatch.setattr("repro.pic.simulation.Ranks", ThreadRank)
    system, steps = replace(CASE, mesh=replace(CASE.mesh, shape=(6, 3, 3))), 4
    if air:
        system = replace(system, air=Collisions(Air(density=4.0), cut=2e3, stop=2e3), capacity=300)
    strategy = plain(blocks=2, threads=3, basket=4, every=2)

    def go(rank):
        simulation = Simulation(system, PlainDevice(), strategy=strategy, ranks=rank)
        assert isinstance(simulation.crossing, RankExchange)
        assert benchmark.host_loop_of(simulation) is simulation.crossing.host_loop
        crossed = 0
        for _ in range(steps):
            simulation.step(1)
            crossed += simulation.crossing.counts.received
        return simulation.particles(), simulation.tallies(), crossed

    alone = run(PlainDevice(), "in air" if air else "global sums", system, steps)
    ends = on_ranks(count, go)
    order = np.argsort(np.concatenate([part["ids"] for part, *_ in ends]))
    for name, values in alone.particles().items():
        np.testing.assert_array_equal(np.concatenate([part[name] for part, *_ in ends])[order], values, err_msg=name)
    for name, value in alone.tallies().items():
        assert sum(told[name] for _, told, _ in ends) == pytest.approx(value, rel=1e-12)
    assert sum(crossed for *_, crossed in ends) > 0


def self_exchange(mesh):
    """The box as its own neighbour along x: what leaves at one end comes back at the other, in the same step."""

    def exchange(departed, done):
        if done and not len(departed):
            return None
        departed["cell"] = mesh.neighbour_cell[NUMBER - departed["cell"]]
        return departed

    return exchange


#: a particle that leaves says into which guard: NUMBER - its number
NUMBER = -100


@pytest.mark.parametrize("basket", [1, 8])
def test_who_leaves_through_one_end_and_arrives_at_the_other_moves_as_in_a_periodic_box(expected, basket):
    # baskets for one overflow: a particle that finds no room waits until the host has emptied them
    strategy = plain(blocks=2, threads=4, basket=basket, every=2, exchange=self_exchange(CASE.mesh))
    simulation = Simulation(CASE, PlainDevice(), strategy=strategy)
    beyond, nodes = simulation.step_arguments[1].neighbour_cell, np.arange(CASE.mesh.layout.nodes)
    wraps = (CASE.mesh.neighbour_cell >= 0) & ~np.isin(CASE.mesh.cells(nodes)[:, 0], range(CASE.mesh.shape[0]))
    beyond[wraps] = NUMBER - nodes[wraps]
    simulation.step(20)
    require_same_bits(simulation, expected)


def domain(cells, threads=1, thread=0, room=6):
    """Arrays in which one thread's domain has particles with such cells, named 10, 11, ... by their ids."""
    particles = make_particles(PlainDevice(), np.float64, room * threads)
    for element, cell in enumerate(cells):
        particles.cell[element * threads + thread], particles.ids[element * threads + thread] = cell, 10 + element
    pointers = Threads(*(np.zeros(threads, np.int32) for _ in Threads._fields))
    counts = Counts(np.zeros(1, np.int32), np.zeros(1, np.int32), 2, threads, threads)
    find_ends(0, threads, particles, room * threads, pointers, counts, np.zeros(1, np.int32))
    return particles, pointers, counts


def add(array, index, value):
    """As `repro.parallel.operations.add_alone`, in plain Python."""
    array[index] += value
    return array[index] - value


def test_holes_close_behind_who_is_absorbed_or_leaves():
    # figure 1: 10 stays, 11 is absorbed, 12 stays, 13 leaves, 14 stays
    particles, pointers, counts = domain([5, 5, 5, 5, 5], threads=3, thread=1)
    outgoing = make_particles(PlainDevice(), np.float64, 2)
    assert pointers.end.tolist() == [0, 5, 0]
    settle, found = make_settle(np.float64, add), []
    for element, cell in enumerate([5, ABSORBED, 7, LEAVES - 3, 8]):
        entry = element * 3 + 1
        particles.cell[entry], particles.left[entry] = cell, 0.25 if cell == LEAVES - 3 else 0
        settle(1, particles, 18, pointers, outgoing, counts)
        found.append((int(pointers.read[1]), int(pointers.write[1])))
    assert found == [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)]
    assert particles.ids[1::3][:3].tolist() == [10, 12, 14]
    assert particles.cell[1::3].tolist() == [5, 7, 8, EMPTY, EMPTY, EMPTY]
    assert (particles.left[1::3][:3] == FRESH).all()
    # a particle that left takes along what is left of the step
    assert counts.outgoing.tolist() == [1]
    assert (outgoing.ids[0], outgoing.cell[0], outgoing.left[0]) == (13, LEAVES - 3, 0.25)


def test_a_particle_that_leaves_takes_along_how_many_segments_it_has_had_in_all_domains():
    """Its collisions are numbered by them: a number that comes twice would be the same collision twice."""
    particles, pointers, counts = domain([LEAVES])
    outgoing = make_particles(PlainDevice(), np.float64, 2)
    particles.event[0], pointers.segments[0] = 5, 3
    make_settle(np.float64, add)(0, particles, 6, pointers, outgoing, counts)
    assert outgoing.event[0] == 8
    assert pointers.segments[0] == 0


def test_who_finds_no_room_in_the_outgoing_basket_waits():
    particles, pointers, counts = domain([LEAVES])
    counts.outgoing[0] = counts.room
    make_settle(np.float64, add)(0, particles, 6, pointers, make_particles(PlainDevice(), np.float64, 2), counts)
    assert (pointers.read[0], counts.outgoing[0], particles.cell[0]) == (0, counts.room, LEAVES)


def test_a_thread_takes_from_the_basket_only_when_its_own_are_done_and_where_there_is_room():
    particles, pointers, counts = domain([5, 5])
    incoming, take = make_particles(PlainDevice(), np.float64, 2), make_take(add)
    incoming.ids[:], incoming.cell[:], counts.incoming[0] = [20, 21], 3, 2
    asked = (0, particles, 6, pointers, incoming, counts)
    assert take(*asked)
    assert counts.incoming[0] == 2
    # the first stays and the second was absorbed: a new one goes behind the first
    pointers.read[0], pointers.write[0], particles.cell[1] = 2, 1, EMPTY
    assert take(*asked)
    assert (counts.incoming[0], pointers.read[0], pointers.end[0]) == (1, 1, 2)
    assert (particles.ids[1], particles.cell[1]) == (21, 3)
    # all six elements are taken, and then the basket is empty
    pointers.read[0] = pointers.end[0] = pointers.write[0] = 6
    assert not take(*asked)
    pointers.read[0] = pointers.end[0] = pointers.write[0] = 2
    assert take(*asked)
    pointers.read[0] += 1
    assert not take(*asked)
    assert counts.incoming[0] == 0


def test_baskets_are_filled_evenly_as_far_as_there_is_room():
    assert shares(7, np.array([9, 9, 9])).tolist() == [3, 2, 2]
    assert shares(7, np.array([1, 9, 9])).tolist() == [1, 3, 3]
    assert shares(9, np.array([1, 0, 2])).tolist() == [1, 0, 2]
    assert shares(0, np.array([1, 2])).tolist() == [0, 0]


def test_records_bring_particles_back_as_they_were():
    one, other = (make_particles(PlainDevice(), np.float32, 5) for _ in range(2))
    rng = np.random.default_rng(1)
    for values in one:
        values[:] = rng.integers(0, 99, values.shape)
    put_records(to_records(one, np.array([4, 0, 2])), PlainDevice(), other, np.array([1, 2, 4]))
    np.testing.assert_array_equal(to_records(other, np.array([4, 2, 1])), to_records(one, np.array([2, 0, 4])))
    assert record_type(np.float32).itemsize == bytes_each(np.float32)


def straight(count):
    """A system of electrons along x that go nine tenths of a cell in a step, from the middle of one; no field."""
    cell = STEP * LIGHT / 0.95
    speed = 0.9 / 0.95
    momentum = speed / np.sqrt(1 - speed**2)
    position, momentum = np.tile([0.5 * cell, 0.5, 0.5], (count, 1)), np.tile([momentum, 0, 0], (count, 1))
    electrons = Electrons(position, momentum, np.ones(count))
    return System(Mesh((3, 1, 1), (cell, 1.0, 1.0)), STEP, electrons, self_field=False)


@pytest.mark.parametrize(("blocks", "threads", "count"), [(1, 1, 3), (1, 2, 3), (2, 2, 9)])
def test_a_step_takes_the_launches_of_the_fullest_domain(blocks, threads, count):
    # each electron meets one face, which makes two segments
    simulation = run(PlainDevice(), plain(blocks=blocks, threads=threads, every=1), straight(count), 1)
    found = simulation.parts["particles"].last
    fullest = -(-count // (blocks * threads))
    assert (found.launches, found.segments) == (2 * fullest, 2 * count)
    assert found.busy == pytest.approx(count / (fullest * blocks * threads))


def test_more_particles_than_there_is_room_for_are_refused_with_what_it_takes():
    system = replace(CASE, source=replace(CASE.source, start=10, per_step=4), capacity=12)
    with pytest.raises(CapacityError, match="14 particles .* room for 12: take a capacity of 28"):
        run(PlainDevice(), plain(blocks=2, threads=2), system, 1)


def test_memory_is_what_is_allocated_and_too_much_is_refused_before():
    strategy = plain(blocks=3, threads=4, basket=5)
    host_loop = Simulation(CASE, PlainDevice(), strategy=strategy).parts["particles"]
    arrays = [
        host_loop.sums.currents,
        *host_loop.threads,
        *host_loop.incoming,
        *host_loop.outgoing,
        *host_loop.counts[:2],
    ]
    arrays.append(host_loop.stock)
    assert strategy.memory(CASE, np.float32, PlainDevice()) == sum(array.nbytes for array in arrays)
    assert host_loop.sums.currents.nbytes == 12 * 8 * CASE.mesh.layout.nodes * 3
    with pytest.raises(MemoryLimitError):
        Simulation(CASE, PlainDevice(), strategy=plain(blocks=2**16))


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"blocks": 0}, "blocks = 0: must be a whole number from 1 to 65536, or None$"),
        ({"threads": 0}, "threads = 0: must be a whole number from 1 to 1024, or None$"),
        ({"threads": 1025}, "threads = 1025: must be a whole number from 1 to 1024, or None$"),
        ({"basket": 0}, "basket = 0: must be a whole number from 1 to 16777216$"),
        ({"every": 0}, "every = 0: must be a whole number from 1 to 10000$"),
        ({"fields": "gpu"}, "fields = 'gpu': must be one of host, device$"),
        ({"exchange": 5}, "exchange = 5: must be of the kind"),
    ],
)
def test_what_cannot_be_is_refused(wrong, line):
    with pytest.raises(InputError, match=line):
        baskets(**wrong)


def in_air() -> System:
    """A source in dense air and a field of the electrons' own: collisions, secondaries and stops in two steps."""
    air = Collisions(Air(density=60.0), cut=2e3, stop=2e3)
    source = Source(energy=1e4, weight=2e4, start=8, per_step=2)
    return replace(CASE, source=source, air=air, electric=(4e5, -2e5, 1e5), capacity=200)


@pytest.fixture(scope="module")
def expected_in_air():
    """What one thread a particle makes of it, which follows secondaries in launches of their own."""
    simulation = run(PlainDevice(), "in air", in_air(), 2)
    told = simulation.tallies()
    assert min(told[name] for name in ("elastic", "ionisation", "stops")) > 0
    return simulation


@pytest.mark.parametrize(
    ("blocks", "threads", "basket", "every", "sort_every"), [(1, 1, 1, 1, 0), (2, 3, 3, 2, 1), (3, 2, 9, 4, 0)]
)
def test_in_air_secondaries_go_to_the_unprocessed_and_no_bit_changes(
    expected_in_air, blocks, threads, basket, every, sort_every
):
    strategy = plain(blocks=blocks, threads=threads, basket=basket, every=every)
    found = run(PlainDevice(), strategy, in_air(), 2, sort_every=sort_every)
    require_same_bits(found, expected_in_air)
    assert found.tallies() == expected_in_air.tallies()


@pytest.mark.parametrize("kind", ["HEATS", "RADIATES", "SETS_FREE"])
def test_in_air_what_events_do_is_tallied_alike(monkeypatch, kind):
    """Processes of every kind, though photons are rare: whatever happens heats the air, radiates, or frees nobody."""
    mask = 0 if kind == "SETS_FREE" else 2 ** (1 + len(PROCESSES)) - 2
    for module in (transport, domains_in_air):
        monkeypatch.setattr(module, kind, mask)
    system = replace(in_air(), source=replace(in_air().source, start=4, per_step=0))
    told = [
        run(PlainDevice(), strategy, system, 1).tallies()
        for strategy in ("in air", plain(blocks=1, threads=3, basket=9, every=3))
    ]
    assert told[0] == told[1]
    assert told[0]["ionisation"] > 0
    assert (told[0]["radiated"] > 0) == (kind == "RADIATES")


def test_in_air_the_fields_may_be_on_the_host(expected_in_air):
    """The step that names random numbers is counted where the fields are, and crosses the bus."""
    found = run(PlainDevice(), baskets(blocks=2, threads=3, basket=9, every=2), in_air(), 2)
    assert found.fields.device.name == "threads"
    require_same_bits(found, expected_in_air)
    assert found.tallies() == expected_in_air.tallies()


def test_baskets_are_the_papers_unless_others_are_asked_for():
    (options,) = baskets().build.args
    assert (options.blocks, options.threads, options.basket, options.every, options.exchange) == (
        None,
        None,
        1024,
        16,
        None,
    )
    assert baskets().fields_on_host
    assert transfer_buffers.shape_of(PlainDevice(), None, None) == (2, 4)
    assert transfer_buffers.shape_of(PlainDevice(), 5, 7) == (5, 7)
    assert transfer_buffers.shape_of(select("serial"), None, None) == (2, 64)


def test_in_air_a_block_needs_room_for_a_secondary_of_each_thread():
    with pytest.raises(InputError, match="baskets for 3 in air: at least as many as the 4 threads of a block"):
        Simulation(in_air(), PlainDevice(), strategy=plain(blocks=1, threads=4, basket=3))
