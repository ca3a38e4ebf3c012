"""The whole loop: the same bits on every device, charge, Gauss' law, plasma oscillations, and what stops a run."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.pic_fields import advance, made, random_fields
from helpers.pic_systems import cold_wave, crowd, divergence, flows, gauss_residual, inner, net_charge
from helpers.plain import PlainCore, PlainDevice
from helpers.rank_threads import ThreadRank, on_ranks

from repro.errors import CapacityError, DivergenceError, InputError, MemoryLimitError
from repro.parallel import select
from repro.parallel.ranks.world import Alone, Ranks
from repro.parallel.timeloop import CHECK_STEPS
from repro.pic import advance as one_thread
from repro.pic.air import transport
from repro.pic.air.collision_tables import Collisions
from repro.pic.air.medium import Air
from repro.pic.cell_sort import CellSort
from repro.pic.constants import CHARGE, LIGHT, MASS, PERMITTIVITY
from repro.pic.disk.global_state import gathered
from repro.pic.maxwell.fields import courant_limit, field_units
from repro.pic.mesh import ABSORBED, LEAVES, Mesh
from repro.pic.observables import kinetic_energy
from repro.pic.simulation import Simulation
from repro.pic.state import EMPTY, MOST_SEGMENTS, Particles, make_particles
from repro.pic.strategies import STRATEGIES, baskets, batches, domains, domains_in_air, fastest
from repro.pic.strategies.batches import BATCH, core_of
from repro.pic.system import Electrons, Source, System

PRECISIONS = pytest.mark.parametrize("precision", ["single", "double"])


def after(system, device, steps, **options):
    simulation = Simulation(system, device, **options)
    simulation.step(steps)
    return simulation


def require_same(one, other):
    """Two simulations must agree to the last bit: particles, fields, currents and charges."""
    expected, found = one.particles(), other.particles()
    for what, values in expected.items():
        np.testing.assert_array_equal(found[what], values, err_msg=what)
    for name, (a, b) in {
        **{name: (getattr(s.fields.arrays, name) for s in (one, other)) for name in one.fields.arrays._fields},
        "charges": (one.charges, other.charges),
    }.items():
        np.testing.assert_array_equal(one.device.to_host(a), other.device.to_host(b), err_msg=name)


@pytest.fixture(scope="module")
def plain_crowd():
    """The reference: plain Python, without a compiler, never sorted."""
    simulation = after(crowd(), PlainDevice(), 4)
    assert simulation.count < 9 + 4 + 4 * 3, "a particle must have been absorbed"
    return simulation


def test_compiled_steps_with_births_walls_and_sorting_are_the_plain_formulas_bit_for_bit(device, plain_crowd):
    require_same(plain_crowd, after(crowd(), device, 4, sort_every=3))


def test_sums_of_a_block_in_shared_memory_are_those_of_all_at_once(cuda_device):
    """Some currents fall into the block's window, of which each thread takes a share, and some beside it."""
    expected = after(crowd(), PlainDevice(), 2)
    require_same(expected, after(crowd(), cuda_device, 2, strategy="tiles", sort_every=1))


@pytest.mark.parametrize(("precision", "sort_every"), [("single", 2), ("double", 0)])
def test_sums_of_a_warp_cell_by_cell_are_those_of_all_at_once(cuda_device, precision, sort_every):
    """In two warps, the second with empty entries: births, walls, and those of a cell one after the other or not."""
    system = replace(crowd(shape=(3, 4, 2), count=30), capacity=45)
    expected, found = (
        after(system, device, 2, strategy=strategy, precision=precision, sort_every=sort_every)
        for device, strategy in ((PlainDevice(), "global sums"), (cuda_device, "warp sums"))
    )
    require_same(expected, found)
    # what the warps share is no memory of the device
    assert found.memory == expected.memory


def test_a_gpu_takes_sums_of_a_warp_unless_it_is_a_simulated_one():
    device = PlainDevice()
    assert fastest(device, crowd()) == "global sums"
    device.simulated = False
    assert fastest(device, crowd()) == "warp sums"


@pytest.mark.parametrize("cores", [1, 2, 3, 16])
def test_a_batch_adds_to_the_currents_of_the_core_that_runs_it(cores):
    """Each core takes whole batches, see `loops`: two that added to the same currents would lose some."""
    for count in (1, 128, 129, 600, 10_007):
        batches = -(-count // BATCH)
        for core in range(cores):
            own = range(core * batches // cores, (core + 1) * batches // cores)
            assert all(core_of(batch * BATCH, count, cores) == core for batch in own)


def test_sorting_changes_nothing_but_the_order(plain_crowd):
    found = after(crowd(), PlainDevice(), 4, sort_every=2)
    require_same(plain_crowd, found)
    found._cell_sort()
    assert found.used[0] == found.count
    assert (np.diff(found.particles_on_device.cell[: found.count]) >= 0).all()
    require_same(plain_crowd, found)


@PRECISIONS
def test_charge_is_conserved_at_every_node_with_births_and_walls(precision):
    simulation = Simulation(crowd(), PlainDevice(), precision=precision)
    mesh, eps = simulation.system.mesh, float(np.finfo(simulation.real).eps)
    for _ in range(4):
        before = net_charge(simulation)
        simulation.step(1)
        grown = net_charge(simulation) - before
        total = simulation.particles()["weight"].sum()
        residual = inner(mesh, grown - divergence(mesh, flows(simulation)))
        assert np.abs(residual).max() < 8 * eps * total
        # all of it, walls included: what is absorbed rests on them
        grown_at_all = grown[:-1] if mesh.boundaries[0] == "periodic" else grown
        assert abs(grown_at_all[:, :-1, :-1].sum()) < 8 * eps * total
        assert np.abs(grown).max() > 0.01 * simulation.particles()["weight"].max()


@PRECISIONS
@pytest.mark.parametrize("walls", [("conducting", "periodic", "periodic"), ("periodic",) * 3])
def test_gauss_law_holds_after_births_and_absorption(precision, walls):
    system = crowd(boundaries=walls)
    simulation = after(system, PlainDevice(), 5, precision=precision)
    total, eps = simulation.particles()["weight"].sum(), float(np.finfo(simulation.real).eps)
    # the electrons of the system begin in a field that is not theirs yet, on ions that stand where they do
    assert np.abs(gauss_residual(simulation)).max() < 40 * eps * total
    assert np.abs(net_charge(simulation)).max() > 0.01 * total / system.mesh.layout.nodes


def test_electrons_begin_as_they_were_given_and_their_first_kick_is_a_whole_one():
    """On faces of cells, at the far end of the box and where layers begin, in a field; those of a source come after."""
    mesh, dt = Mesh((6, 4, 3), (1e-3, 1.1e-3, 0.9e-3), ("absorbing", "periodic", "periodic"), layers=1), 1e-13
    position = np.array([[1e-3, 4.4e-3, 0], [5e-3, 2.2e-3, 3 * 0.9e-3], [2.5e-3, 0.55e-3, 1.8e-3]])
    momentum = np.array([[0.5, 0.1, 0.2], [-0.1, 0.2, -0.3], [0.0, 0.7, 0.4]])
    field, weight = np.array([0.02, -0.03, 0.05]), np.array([1.0, 3.0, 2.0])
    system = System(
        mesh,
        dt,
        Electrons(position, momentum, weight),
        Source(1e4, 2.5, start=2, per_step=1),
        electric=tuple(field * MASS * LIGHT / (CHARGE * dt)),
        self_field=False,
        capacity=20,
    )
    simulation = Simulation(system, PlainDevice(), precision="double")
    start = simulation.particles()
    np.testing.assert_allclose(start["position"][:3], position, rtol=0, atol=1e-17)
    np.testing.assert_allclose(start["momentum"][:3], momentum, rtol=0, atol=1e-15)
    # rounding has the second one a bit above the third cell
    assert 3 * 0.9e-3 / 0.9e-3 > 3
    assert simulation.particles_on_device.place.max() == 1
    # those of the source come after
    np.testing.assert_array_equal(start["weight"], [*weight, 2.5, 2.5])
    simulation.step(2)
    end = simulation.particles()
    assert (simulation.time, simulation.count, len(simulation.tallies())) == (2 * dt, 7, 0)
    np.testing.assert_array_equal(end["ids"], np.arange(7))
    np.testing.assert_allclose(end["momentum"][:5] - start["momentum"], np.tile(-2 * field, (5, 1)), atol=1e-15)
    # the ions stay, each beside its electron
    assert abs(net_charge(simulation)[:, :-1, :-1].sum()) < 1e-9 * weight.sum()


class Counting(PlainDevice):
    """Counts the bytes of the arrays that are made on it."""

    def __init__(self):
        super().__init__()
        self.bytes = 0

    def zeros(self, *arguments):
        made = np.zeros(*arguments)
        self.bytes += made.nbytes
        return made


@PRECISIONS
@pytest.mark.parametrize("sort_every", [0, 2])
@pytest.mark.parametrize(("shape", "capacity"), [((3, 4, 2), 20_000), ((24, 25, 26), 20)])
def test_the_memory_that_is_asked_for_is_what_is_taken(precision, sort_every, shape, capacity):
    system, device = replace(crowd(shape=shape), capacity=capacity), Counting()
    strategy = baskets(blocks=2, threads=4, basket=8, fields="device")
    simulation = Simulation(system, device, strategy=strategy, precision=precision, sort_every=sort_every)
    assert simulation.memory == pytest.approx(device.bytes, rel=0.1)


def test_particles_are_sorted_in_the_first_of_each_so_many_steps(monkeypatch):
    sorted_before, sort = [], CellSort.__call__
    monkeypatch.setattr(CellSort, "__call__", lambda self: (sorted_before.append(int(simulation.clock[0])), sort(self)))
    simulation = Simulation(crowd(), PlainDevice(), sort_every=3)
    simulation.step(8)
    assert sorted_before == [0, 3, 6]


def test_a_sort_puts_all_of_each_particle_into_the_order_of_cells_and_closes_gaps():
    particles, used = make_particles(PlainDevice(), np.float32, 7), np.array([6], np.int32)
    particles.cell[:] = [8, EMPTY, 3, 8, ABSORBED, 0, 5]
    for values in (particles.place, particles.u):
        values[:] = np.random.default_rng(1).random(21)
    particles.weight[:], particles.ids[:], particles.left[:] = range(1, 8), range(10, 17), range(20, 27)
    particles.event[:] = 9
    before = Particles(*(values.copy() for values in particles))
    CellSort(PlainDevice(), np.float32, particles, used, 12)()
    # the last entry is not in use; those of a cell keep their order
    order = [5, 2, 0, 3]
    assert used[0] == 4
    assert particles.cell.tolist() == [0, 3, 8, 8, EMPTY, EMPTY, 5]
    for name in ("place", "u", "weight", "ids", "left"):
        rows, old = (getattr(which, name).reshape(-1, 7) for which in (particles, before))
        np.testing.assert_array_equal(rows[:, :4], old[:, order], err_msg=name)
    assert particles.event[:4].tolist() == [0] * 4


#: strategies in plain Python, where each ends the segments of a particle, and by which number
LOOPS = {
    "global sums": (PlainDevice, one_thread, "MOST_SEGMENTS"),
    "batches": (PlainCore, batches, "MOST_SEGMENTS"),
    baskets(blocks=2, threads=3, basket=9, every=1, fields="device"): (PlainDevice, domains, "MOST_SEGMENTS"),
}
IN_AIR = {
    "in air": (PlainDevice, transport, "MOST_IN_AIR"),
    baskets(blocks=2, threads=3, basket=9, every=1, fields="device"): (PlainDevice, domains_in_air, "MOST_IN_AIR"),
}


@pytest.mark.parametrize(("ways", "air"), [(LOOPS, None), (IN_AIR, Collisions(cut=2e4, stop=2e4))])
def test_particles_with_more_segments_than_there_can_be_are_counted_and_end_the_run(monkeypatch, ways, air):
    system = replace(crowd(boundaries=("periodic",) * 3, born=(4, 0)), self_field=False)
    if air is not None:
        slow = replace(system.electrons, momentum=0.5 * system.electrons.momentum)
        system = replace(system, electrons=slow, air=replace(air, air=Air(density=0.01)))
    found = {}
    for strategy, (device, module, name) in ways.items():
        usual, counts = getattr(module, name), []
        for most in range(1, 7):
            monkeypatch.setattr(module, name, most)
            simulation, line = Simulation(system, device(), strategy=strategy), ""
            try:
                simulation.step(1)
            except DivergenceError as error:
                line = str(error)
            words = " particles met more faces in a step than there can be by step 1 of crowd"
            assert not line or line.endswith(words)
            counts.append(int(line.removesuffix(words) or 0))
        monkeypatch.setattr(module, name, usual)
        found[strategy] = counts
        # which is more than any of them had
        assert counts[-1] == 0 < counts[0]
    first, *others = found.values()
    assert all(other == first for other in others)
    simulation = after(system, PlainDevice(), 1, strategy=strategy)
    # so many of 13 have more than one segment, more than two ...
    assert 13 + sum(first) == simulation.parts["particles"].last.segments


def test_fields_are_with_the_particles_unless_they_cross_a_bus():
    for device, where, home in (
        (select("serial"), "host", "serial"),
        (select("serial"), "device", "serial"),
        (PlainDevice(), "host", "threads"),
        (PlainDevice(), "device", "cuda"),
    ):
        simulation = Simulation(crowd(), device, strategy=baskets(fields=where), ranks=Alone())
        assert simulation.fields.device.name == home
        assert simulation.ranks is None
        assert [name for name in simulation.parts if "host" in name] == ["currents to the host"] * (home == "threads")


def test_particles_keep_their_numbers_and_none_is_lost_or_doubled():
    system = crowd(boundaries=("periodic",) * 3, born=(4, 3))
    simulation = Simulation(system, PlainDevice(), sort_every=2)
    for step in range(1, 6):
        simulation.step(1)
        np.testing.assert_array_equal(simulation.particles()["ids"], np.arange(9 + 4 + 3 * step))
    found = after(crowd(), PlainDevice(), 8).particles()["ids"]
    assert len(set(found)) == len(found) < 9 + 4 + 8 * 3


@pytest.mark.parametrize(("count", "device"), [(2, PlainDevice), (4, PlainDevice), (4, PlainCore)])
def test_ranks_have_the_particles_of_one_together(monkeypatch, count, device):
    """Each has those of its part of the box, at their places in the whole one; ions are beside their electrons.

    By one thread a particle, and in batches.
    """
    monkeypatch.setattr("repro.pic.simulation.Ranks", ThreadRank)
    system = crowd(shape=(4, 4, 2), boundaries=("conducting",) * 3, count=30)
    weights = system.electrons.weight * np.linspace(0.5, 1.0, 30)
    system = replace(system, electrons=replace(system.electrons, weight=weights))

    def run(ranks):
        simulation, looks = Simulation(system, device(), ranks=ranks, sort_every=3), []
        for steps in (0, 4):
            simulation.step(steps)
            looks.append((simulation.particles(), gathered(simulation), simulation.count))
        return looks, simulation.subdomain.own

    (expected, _), ends = run(None), on_ranks(count, run)
    for k, (particles, state, total) in enumerate(expected):
        parts = [looks[k][0] for looks, _ in ends]
        order = np.argsort(np.concatenate([part["ids"] for part in parts]))
        for name, values in particles.items():
            found = np.concatenate([part[name] for part in parts])[order]
            np.testing.assert_array_equal(found, values, err_msg=name)
        assert sum(len(part["ids"]) > 0 for part in parts) > 1
        together = ends[0][0][k][1]
        for name, values in state.items():
            np.testing.assert_array_equal(together[name], values, err_msg=name)
        assert [len(part["ids"]) for part in parts] == [looks[k][2] for looks, _ in ends]
        assert len(order) == total
        for part, (_, own) in zip(parts, ends, strict=True):
            assert own((part["position"] / system.mesh.spacing).astype(int)).all()


def test_a_source_that_fills_the_sums_is_looked_at_more_often():
    system = replace(crowd(born=(4, 7)), self_field=False)
    # in 171.4 steps it adds twice what 200 particles of three times the weight have
    assert Simulation(system, PlainDevice()).check_steps == 171
    assert Simulation(replace(system, source=None), PlainDevice()).check_steps == CHECK_STEPS


def wave(simulation, steps):
    """E along x, as its projection on the standing wave, after each step, and the energy of field and electrons in J.

    A wave along x has no magnetic field.
    """
    mesh, system = simulation.system.mesh, simulation.system
    shape = np.sin(2 * np.pi * (np.arange(mesh.shape[0]) + 0.5) / mesh.shape[0])
    found = []
    for _ in range(steps):
        simulation.step(1)
        electric, particles = simulation.fields.on_host()["electric"], simulation.particles()
        squares = (particles["momentum"] ** 2).sum(1)
        kinetic_energy = MASS * LIGHT**2 * (particles["weight"] * squares / (1 + np.sqrt(1 + squares))).sum()
        field = PERMITTIVITY / 2 * mesh.cell_volume * (electric[:, :-1, :-1, :-1] ** 2).sum()
        found.append((2 * np.mean(electric[0, 0, 0, :-1] * shape), field + kinetic_energy))
    return np.array(found).T, system.dt * np.arange(1, steps + 1)


def test_a_cold_plasma_oscillates_with_its_frequency_and_keeps_its_energy():
    # in steps of 0.3 / omega_p for ten periods
    system = cold_wave(cells=4, each=2, turn=0.3)
    simulation = Simulation(system, PlainDevice(), precision="double")
    (field, energy), time = wave(simulation, 210)
    crossings = np.flatnonzero(field[:-1] * field[1:] < 0)
    zeros = time[crossings] + system.dt * field[crossings] / (field[crossings] - field[crossings + 1])
    frequency = np.pi * (len(zeros) - 1) / (zeros[-1] - zeros[0])
    assert frequency == pytest.approx(system.plasma_frequency, rel=0.005)
    # a leapfrog's frequency: sin(omega dt / 2) = omega_p dt / 2
    assert frequency == pytest.approx(2 / system.dt * np.arcsin(0.15), rel=2e-4)
    # energy goes to and fro between field and electrons; it is kept as a mean
    smooth = np.convolve(energy, np.ones(21) / 21, "valid")
    assert np.abs(smooth / smooth[0] - 1).max() < 1e-3
    assert np.abs(energy / energy[0] - 1).max() < 0.3**2 / 4


def test_without_a_field_of_their_own_electrons_go_round_for_a_thousand_turns():
    """Radius within 1e-10 and phase within 1e-8, through faces of cells and of the box, in a field along no axis."""
    axis, turn, steps = np.array([2.0, -3.0, 6.0]) / 7, 0.9, 15700
    mesh, dt = Mesh((3, 4, 2), (1e-3,) * 3), 1.9e-12
    u = np.linalg.qr(np.array([axis, [1, 0, 0], [0, 1, 0]]).T)[0].T[1:] * np.array([[1.0], [2.0]])
    start = np.array([[0.5, 1.7, 0.9], [2.0, 1.0, 1.0]]) * 1e-3
    magnetic = tuple(turn * MASS / (CHARGE * dt) * axis)
    system = System(mesh, dt, Electrons(start, u, np.ones(2)), magnetic=magnetic, self_field=False)
    found = after(system, select("serial"), steps, precision="double").particles()
    for k in range(2):
        gamma = np.sqrt(1 + u[k] @ u[k])
        radius, angle = np.linalg.norm(u[k]) * LIGHT * dt / turn, turn / gamma * steps
        # turns by the left of the axis: the centre is to the left of the momentum
        side, ahead = np.cross(axis, u[k]) / np.linalg.norm(u[k]), u[k] / np.linalg.norm(u[k])
        place = start[k] + radius * (side + np.sin(angle) * ahead - np.cos(angle) * side)
        off = np.remainder(found["position"][k] - place + 0.5e-3, mesh.length) - 0.5e-3
        off = np.where(off > 1e-3, off - mesh.length, off)
        out = np.sin(angle) * ahead - np.cos(angle) * side
        assert abs(off @ out) < 1e-10 * radius
        assert abs(off @ np.cross(axis, out)) < 1e-8 * radius
        assert abs(off @ axis) < 1e-10 * radius
        assert np.linalg.norm(found["momentum"][k]) == pytest.approx(np.linalg.norm(u[k]), rel=1e-11)


@PRECISIONS
@pytest.mark.parametrize("across", [0.0, 1e-7, 1e-3, 0.03])
def test_an_electron_between_two_fields_that_turn_it_back_slides_along_the_face(precision, across):
    mesh, dt = Mesh((4, 4, 1), (1e-3,) * 3), 1.5e-12
    electrons = Electrons([[1e-3, 2e-3, 0.5e-3]], [[1.0, across, 0]], [1.0])
    simulation = Simulation(System(mesh, dt, electrons, self_field=False), PlainDevice(), precision=precision)
    magnetic = np.zeros((3, 1, 4, 4))
    magnetic[2] = 0.5 * field_units(dt)[1] * np.array([1, 1, -1, -1])[None, :, None]
    simulation.fields.set(magnetic=magnetic)
    simulation.step(20)
    found = simulation.particles()
    way = 20 * LIGHT * dt * np.sqrt(0.5)
    assert found["position"][0, 0] == pytest.approx((1e-3 + way) % 4e-3, rel=2e-3)
    assert abs(found["position"][0, 1] - 2e-3) < 1e-5
    assert np.linalg.norm(found["momentum"]) == pytest.approx(np.hypot(1, across), rel=1e-5)


@pytest.mark.parametrize("strategy", ["global sums", "batches"])
def test_a_particle_that_leaves_takes_along_how_many_faces_it_has_met(strategy):
    """The one that it leaves through among them: it goes on as it would in a box that is not divided."""
    mesh, way = Mesh((3, 1, 1), (1e-3, 1e-3, 1e-3)), 0.55
    # in cells a step: through the last face at once, after one across y, and after one across y and one across z
    velocity = np.array([[0.5, 0, 0], [0.3, 0.4, 0], [0.3, 0.3, -0.3], [0.2, 0, 0]]) / way
    place = np.array([[2.8, 0.5, 0.5], [2.8, 0.9, 0.5], [2.8, 0.9, 0.1], [2.2, 0.5, 0.5]]) * 1e-3
    momentum = velocity / np.sqrt(1 - (velocity**2).sum(1, keepdims=True))
    system = System(mesh, way * 1e-3 / LIGHT, Electrons(place, momentum, np.ones(4)), self_field=False)
    simulation = Simulation(system, PlainCore(), strategy=strategy)
    simulation.start()
    # another part begins there
    guard = mesh.nodes([[3, 0, 0]])
    simulation.step_arguments[1].neighbour_cell[guard] = LEAVES - guard
    simulation.parts["particles"]()
    particles = simulation.particles_on_device
    assert particles.cell[:3].tolist() == [int(LEAVES - guard[0])] * 3
    assert particles.event[:4].tolist() == [1, 2, 3, 0]
    # and the time that is left of the step
    np.testing.assert_allclose(particles.left[:3], 1 - 0.2 / np.array([0.5, 0.3, 0.3]), rtol=1e-5)


def test_an_electron_that_has_met_half_of_the_faces_that_it_may_is_turned_no_more():
    field = (0.1, -0.2, 0.3)
    for met in (0, MOST_SEGMENTS // 2 - 1):
        assert one_thread.turned_by(met, field) == field
    for met in (MOST_SEGMENTS // 2, MOST_SEGMENTS):
        assert one_thread.turned_by(met, field) == (0, 0, 0)


def test_a_box_that_is_full_is_an_error_with_the_room_it_needs():
    system = replace(crowd(boundaries=("periodic",) * 3), capacity=15)
    with pytest.raises(CapacityError, match=r"16 particles by step 1 of crowd, and room for 15: take a capacity"):
        after(system, PlainDevice(), 1)


def test_what_is_not_finite_is_an_error_with_the_step():
    simulation = Simulation(crowd(born=(4, 0)), PlainDevice())
    simulation.start()
    simulation.particles_on_device.u[0] = np.nan
    with pytest.raises(DivergenceError, match="momenta are not finite by step 1 of crowd"):
        simulation.step(1)


class TwoRanks(Ranks):
    """The first of two, which exchanges nothing."""

    rank, count = 0, 2

    def __init__(self):
        """Without MPI."""


def test_a_simulation_refuses_what_cannot_work():
    system = crowd()
    for options, line in (
        ({"precision": "half"}, "precision = 'half': must be one of single, double"),
        ({"strategy": "magic"}, "strategy = 'magic': must be one of global sums, warp sums, tiles, baskets$"),
        (
            {"strategy": replace(STRATEGIES["tiles"], crossing=None), "ranks": TwoRanks()},
            "strategy 'tiles' is for one rank: take 'global sums'$",
        ),
        (
            {"strategy": STRATEGIES["in air"]},
            "'in air' is for air on .*, and this is vacuum",
        ),
        (
            {"strategy": STRATEGIES["batches"]},
            "on serial and threads, and this is vacuum on cuda: take 'gl",
        ),
        ({"strategy": ["batches"]}, r"strategy = \['batches'\]: must be one of"),
        ({"precision": ["single"]}, r"precision = \['single'\]: must be one of"),
        ({"ranks": 4}, "ranks = 4: must be of the kind Alone or Ranks or None"),
        ({"sort_every": 0.5}, "sort_every = 0.5: must be a whole number from 0 to 10000$"),
    ):
        with pytest.raises(InputError, match=line):
            Simulation(system, PlainDevice(), **options)
    with pytest.raises(InputError, match=r"device = 'threads': must be a device .*select\('auto'\)"):
        Simulation(system, "threads")
    with pytest.raises(InputError, match="device = None: must be a device of repro.parallel"):
        Simulation(system, None)
    with pytest.raises(InputError, match=r"system = .*: must be of the kind System"):
        Simulation(system.mesh, PlainDevice())
    with pytest.raises(MemoryLimitError, match="2000000000 particles"):
        Simulation(replace(system, capacity=2_000_000_000), PlainDevice())


@pytest.mark.parametrize("steps", [-1, 1.5, "1", True])
def test_a_run_goes_on_after_a_whole_number_of_steps(steps):
    with pytest.raises(InputError, match=f"steps = {steps!r}: must be a whole number from 0"):
        Simulation(crowd(), PlainDevice()).resume(steps)


def test_a_source_gives_all_directions_one_energy_and_the_whole_box():
    mesh = Mesh((3, 2, 4), (1e-3,) * 3)
    system = System(mesh, 1e-13, source=Source(1e5, 1.0, start=2000), self_field=False)
    found = Simulation(system, PlainDevice(lanes=500), precision="double").particles()
    gamma = np.sqrt(1 + (found["momentum"] ** 2).sum(1))
    np.testing.assert_allclose((gamma - 1) * MASS * LIGHT**2 / CHARGE, 1e5, rtol=1e-12)
    way = found["momentum"] / np.linalg.norm(found["momentum"], axis=1)[:, None]
    # means of 2000 numbers: four standard errors
    assert np.abs(way.mean(0)).max() < 4 / np.sqrt(3 * 2000)
    np.testing.assert_allclose((way**2).mean(0), 1 / 3, atol=4 * np.sqrt(4 / 45 / 2000))
    place = found["position"] / mesh.length
    np.testing.assert_allclose(place.mean(0), 0.5, atol=4 / np.sqrt(12 * 2000))
    np.testing.assert_allclose(place.var(0), 1 / 12, atol=4 / np.sqrt(180 * 2000))


def test_fields_without_electrons_are_those_of_maxwells_equations_alone(device):
    # few rows and steps: the simulator has a thread for each of a block's 128 in every row
    mesh = Mesh((4, 2, 3), (1e-3, 1.1e-3, 0.9e-3), ("conducting", "periodic", "periodic"))
    system, start = System(mesh, 0.9 * courant_limit(mesh), name="waves"), random_fields(mesh)
    simulation = Simulation(system, device, precision="double")
    simulation.fields.set(**start)
    simulation.step(2)
    alone = made(mesh, device=device, **start)
    advance(alone, 2)
    found = simulation.fields.on_host()
    for name, values in alone.on_host().items():
        np.testing.assert_array_equal(found[name], values)
    assert simulation.count == 0
    assert len(simulation.particles()["ids"]) == 0


def test_fields_stay_as_they_are_set_where_electrons_have_none_of_their_own():
    simulation = Simulation(replace(crowd(), self_field=False), PlainDevice(), precision="double")
    start = random_fields(simulation.system.mesh)
    simulation.fields.set(**{name: 1e3 * values for name, values in start.items()})
    before = simulation.fields.on_host()
    simulation.step(2)
    for name, values in simulation.fields.on_host().items():
        np.testing.assert_array_equal(values, before[name])


def test_fields_cannot_be_set_once_electrons_have_begun_in_them():
    simulation = Simulation(crowd(), PlainDevice())
    simulation.fields.set(electric=np.zeros((3, 1, 1, 1)))
    simulation.particles()
    resumed = Simulation(crowd(), PlainDevice())
    resumed.resume(0)
    for begun in (simulation, resumed):
        with pytest.raises(InputError, match="fields are set before the first step and the first look at the part"):
            begun.fields.set(electric=np.zeros((3, 1, 1, 1)))


def test_there_is_room_for_what_a_source_adds_in_a_thousand_steps():
    system = replace(crowd(boundaries=("periodic",) * 3), capacity=None)
    assert system.room == 13 + 1000 * 3
    assert after(system, PlainDevice(), 4).count == 13 + 4 * 3
    with pytest.raises(CapacityError, match=r"take a capacity of 32 \(the source adds 3 a step\)"):
        after(replace(system, capacity=15), PlainDevice(), 1)


def test_there_is_room_for_electrons_that_are_set_free_in_air():
    mesh, count = Mesh((2, 2, 2), (1e-2,) * 3), 50
    electrons = Electrons(np.full((count, 3), 1e-2), np.tile([0.2, 0.0, 0.0], (count, 1)), np.ones(count))
    system = System(mesh, 1e-12, electrons, self_field=False, air=Collisions())
    assert (system.room, replace(system, air=None).room) == (2 * count, count)
    assert after(system, PlainDevice(), 10).count > count


def test_a_box_that_secondaries_just_fill_goes_on_and_with_one_entry_less_it_ends():
    mesh, count = Mesh((2, 2, 2), (1e-2,) * 3), 30
    electrons = Electrons(np.full((count, 3), 1e-2), np.tile([0.2, 0.0, 0.0], (count, 1)), np.ones(count))
    system = System(mesh, 1e-12, electrons, self_field=False, air=Collisions(), capacity=200)
    roomy = after(system, PlainDevice(), 3)
    used = int(roomy.used[0])
    assert count < used < 200
    full = after(replace(system, capacity=used), PlainDevice(), 3)
    for name, values in roomy.particles().items():
        np.testing.assert_array_equal(full.particles()[name], values)
    assert full.tallies() == roomy.tallies()
    line = f"{used} particles by step . of electrons, and room for {used - 1}: take a capacity of {2 * used}$"
    with pytest.raises(CapacityError, match=line):
        after(replace(system, capacity=used - 1), PlainDevice(), 3)


def test_tallies_say_in_joules_where_the_energy_of_electrons_in_air_has_gone():
    # far from all faces and without fields: what the electrons have lost is what the air and photons have got
    mesh, count = Mesh((6, 6, 6), (1e-2,) * 3), 20
    electrons = Electrons(np.full((count, 3), 3e-2), np.tile([0.1, 0.2, 0.2], (count, 1)), np.full(count, 1e3))
    system = System(mesh, 5e-12, electrons, self_field=False, air=Collisions(), capacity=500)
    simulation = Simulation(system, PlainDevice(), precision="double")
    assert simulation.tallies()["lost"] == 0
    simulation.step(8)
    found, told = simulation.particles(), simulation.tallies()
    before = kinetic_energy(electrons.momentum, electrons.weight)
    after_ = kinetic_energy(found["momentum"], found["weight"])
    assert told["lost"] + told["radiated"] + told["left over"] == pytest.approx(before - after_, rel=1e-6, abs=0)
    assert told["lost"] > 0.01 * before
    assert len(found["ids"]) == count + told["ionisation"] - told["stops"]
    assert Simulation(crowd(), PlainDevice()).tallies() == {}
