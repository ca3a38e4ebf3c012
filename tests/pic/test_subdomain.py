"""A rank's part of the box: what of it is here, who leaves to where, and who has room. No rank runs."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain import PlainDevice

from repro.errors import CapacityError
from repro.pic.handover import Handover
from repro.pic.mesh import ABSORBED, LEAVES, Mesh
from repro.pic.packing import record_type, to_records
from repro.pic.state import DEFERRED, EMPTY, make_particles
from repro.pic.subdomain import Crossing, Subdomain

#: a box of 4 x 6 x 2 cells, periodic along x and y, cut in two along y
BOX = Mesh((4, 6, 2), (1e-3, 2e-3, 3e-3), ("periodic", "periodic", "conducting"))


def part(rank: int, room: int = 2001, ranks: int = 2) -> Subdomain:
    """The part of one of several ranks."""
    system = SimpleNamespace(mesh=BOX, room=room, wanted_capacity=lambda particles: f"a capacity of {particles}")
    return Subdomain(system, SimpleNamespace(rank=rank, count=ranks), PlainDevice())


def test_a_part_is_its_cells_of_the_box():
    upper = part(1)
    assert (upper.first, upper.mesh.shape, upper.mesh.spacing) == ((0, 3, 0), (4, 3, 2), BOX.spacing)
    # the other rank is at both ends along y, and x goes on in the part itself
    assert upper.mesh.divided == ((False, False), (True, True), (False, False))
    cells = np.array([(0, 2, 0), (0, 3, 0), (3, 5, 1), (3, 5, 2), (4, 4, 0), (-1, 4, 0), (0, 0, 0)])
    assert upper.own(cells).tolist() == [False, True, True, False, False, False, False]
    assert part(0).own(cells).tolist() == [True, False, False, False, False, False, True]


@pytest.mark.parametrize(
    ("room", "expected"), [(2001, 1757), (100, 100), (512, 512), (514, 514), (1024, 1024), (1026, 1026)]
)
def test_a_part_has_room_for_half_more_than_its_share_and_a_few_and_never_for_more_than_all(room, expected):
    # half of 2001 is 1000.5, one and a half times that 1500.75
    assert part(0, room).room == expected


def test_who_leaves_is_sent_to_the_rank_of_its_cell_by_the_number_that_it_has_there():
    lower = part(0)
    records = np.zeros(3, record_type(np.float64))
    records["ids"] = 7, 8, 9
    # beyond the upper end along y twice, and once beyond the lower one, which is the upper end of the box
    guards = lower.mesh.nodes([(1, 3, 0), (2, -1, 1), (3, 3, 1)])
    records["cell"] = LEAVES - guards
    ((rank, sent),) = lower.sent_on(records).items()
    assert rank == 1
    assert sent["ids"].tolist() == [7, 8, 9]
    assert sent["cell"].tolist() == lower.mesh.nodes([(1, 0, 0), (2, 2, 1), (3, 0, 1)]).tolist()


def test_those_who_leave_in_disorder_come_to_each_rank_whether_sorted_here_or_on_the_device():
    first, device = part(0, ranks=3), PlainDevice()
    particles = make_particles(device, np.float64, 8)
    # beyond the upper end along y is the second rank, beyond the lower one the third
    guards = first.mesh.nodes([(0, 2, 0), (1, -1, 0), (2, 2, 1), (3, -1, 1)])
    particles.cell[[1, 2, 5, 7]], particles.ids[[1, 2, 5, 7]] = LEAVES - guards, (11, 22, 12, 21)
    particles.place[:] = np.arange(24) / 32
    on_host = first.sent_on(to_records(particles, np.array([1, 2, 5, 7])))
    on_device, absorbed = Handover(device, np.float64, particles, first.owner, first.there, 3).leavers(0, 8)
    assert [sent["ids"].tolist() for sent in on_host.values()] == [[11, 12], [22, 21]]
    assert ([*on_host], [*on_device], absorbed) == ([1, 2], [1, 2], 0)
    assert all((on_host[rank] == on_device[rank]).all() for rank in on_host)
    assert on_host[2]["cell"].tolist() == first.mesh.nodes([(1, 1, 0), (3, 1, 1)]).tolist()


@pytest.fixture
def crossing():
    """The crossing of a rank with room for 8 particles, 6 of which are in use; what moves them does nothing."""
    device, calls = PlainDevice(), []
    particles = make_particles(device, np.float64, 8)
    # cells, of which two have left a gap
    particles.cell[:6] = 50, EMPTY, 52, EMPTY, 54, 55
    particles.ids[:6] = 10, 0, 12, 0, 14, 15
    for rows in (particles.place, particles.u):
        rows.reshape(3, 8)[:, :6] = np.arange(18).reshape(3, 6) / 4

    def move():
        calls.append("move")

    move.resume = lambda: calls.append("resume")
    simulation = SimpleNamespace(
        subdomain=part(0), device=device, particles_on_device=particles, used=np.array([6]), real=np.float64
    )
    simulation.system = SimpleNamespace(source=SimpleNamespace(per_step=2))
    made = Crossing(simulation, move)
    made.calls, made.particles = calls, particles
    return made


def arrivals(count: int) -> np.ndarray:
    """Records of particles that arrive, by their ids from 90 on."""
    records = np.zeros(count, record_type(np.float64))
    records["ids"], records["cell"], records["weight"] = 90 + np.arange(count), 60, 1.5
    records["place"] = np.arange(3 * count).reshape(count, 3) / 8
    return records


def test_gaps_are_filled_only_where_there_is_no_room_behind(crossing):
    crossing._make_room(2)
    assert crossing._used[0] == 6
    crossing._make_room(3)
    # the last two have taken the places of the two that were gone, with all that they are
    assert crossing._used[0] == 4
    assert crossing.particles.cell.tolist() == [50, 54, 52, 55, *[EMPTY] * 4]
    assert crossing.particles.ids[:4].tolist() == [10, 14, 12, 15]
    row = np.arange(18).reshape(3, 6) / 4
    assert crossing.particles.u.reshape(3, 8)[:, :4].tolist() == row[:, [0, 4, 2, 5]].tolist()


def test_arrivals_stand_behind_those_that_are_here(crossing):
    assert crossing._put(arrivals(2)) == 8
    assert crossing._used[0] == 8
    assert crossing.particles.ids[6:].tolist() == [90, 91]
    assert crossing.particles.place.reshape(3, 8)[:, 6:].T.tolist() == arrivals(2)["place"].tolist()
    assert crossing.particles.weight[6:].tolist() == [1.5, 1.5]


def test_arrivals_without_room_are_refused_with_a_capacity_that_has_it(crossing):
    # four are here, and five more would be nine; a part has 3/2 of half of the capacity, and 12 makes that nine
    line = "5 particles arrive on rank 0, where 4 of 8 entries are in use: take a capacity of 6, or fewer ranks"
    with pytest.raises(CapacityError, match=line):
        crossing._put(arrivals(5))
    assert crossing._put(arrivals(4)) == 8


def test_before_a_step_room_is_made_for_those_that_are_born_in_it(crossing):
    crossing.count()
    assert (crossing._held, crossing._before) == (4, 6)
    crossing._added = 3
    crossing.count()
    assert (crossing._held, crossing._before) == (4, 4)


def test_what_a_launch_did_is_counted_and_those_that_left_are_taken_out(crossing):
    cell, mesh = crossing.particles.cell, crossing._subdomain.mesh
    crossing.count()
    crossing._first = True
    # one is absorbed, one leaves, and two have appeared, one of them for later
    cell[2], cell[4] = ABSORBED, LEAVES - mesh.nodes([(1, 3, 0)])[0]
    cell[6], cell[7] = 56, DEFERRED - 57
    crossing._used[:] = 8
    done = crossing._work(arrivals(0))
    assert crossing.calls == ["move"]
    assert (done.created, done.absorbed, done.remaining, done.held) == (2, 1, 0, 3)
    ((rank, sent),) = done.leavers.items()
    assert (rank, sent["ids"].tolist()) == (1, [14])
    assert sent["u"].tolist() == [(np.array([4, 10, 16]) / 4).tolist()]
    assert cell.tolist() == [50, EMPTY, EMPTY, EMPTY, EMPTY, 55, 56, DEFERRED - 57]
    # nothing arrives: nothing moves, and nothing is counted twice
    done = crossing._work(arrivals(0))
    assert crossing.calls == ["move"]
    assert (done.created, done.absorbed, done.leavers) == (0, 0, {})


def test_arrivals_move_on_and_are_not_created(crossing):
    crossing.count()
    crossing._first = True
    assert crossing._work(arrivals(0)).held == 4
    done = crossing._work(arrivals(2))
    assert crossing.calls == ["move", "resume"]
    assert (done.created, done.absorbed, done.held) == (0, 0, 6)
