"""The walk through figure 1: the rule of the pointers on names, and a step of a few electrons in plain Python."""

import numpy as np
import pytest

from repro.errors import InputError
from repro.papers.electrons.algorithm import figures, pointers, walk
from repro.papers.electrons.algorithm.plain import PlainPython
from repro.pic.mesh import Mesh


@pytest.fixture(scope="module")
def step():
    """A step of the walk."""
    return walk.step(PlainPython())


def test_the_rule_keeps_who_stays_in_order_and_closes_holes():
    last = pointers.compacted("ABCDE", (False, True, True, False, True))[-1]
    assert ("".join(last.memory[: last.write]), last.read) == ("BCE", 5)


def test_as_printed_who_is_absorbed_overwrites_those_behind_or_hides_them():
    right, stays, again = pointers.three_rules().values()
    assert right[-1].memory[: right[-1].write] == ("A", "C", "D")
    assert [state.happened for state in right] == ["the start", "A stays", "B is gone", "C stays", "D stays"]
    overwrites = [f"B stays and overwrites {name}" for name in "CD"]
    assert [state.happened for state in stays] == ["the start", "A stays", "B is gone", *overwrites]
    assert stays[-1].memory == ("A", "B", "B", "B")
    assert [state.source for state in again] == [0, 1, 1, 1, 1]


def test_everybody_does_what_the_walk_says_of_it(step):
    looks, taken, neighbour = step
    kept = sorted(name for domain in looks[-1].domains for name in domain if name >= 0)
    gone = {k for k, who in enumerate(walk.ORDER) if who in ("is absorbed", "leaves")}
    born = {len(walk.ORDER), len(walk.ORDER) + 1}
    assert set(kept) == set(range(len(walk.ORDER))) - gone | born | {walk.ARRIVES}
    assert len(kept) == len(set(kept)) == sum(looks[-1].write)
    assert neighbour.taken == [k for k, who in enumerate(walk.ORDER) if who == "leaves"]
    # one segment for each face, and one more but for those that a face ended; newcomers move by less than a cell
    faces = {"meets a face": 2, "meets two faces": 3}
    own = sum(faces.get(who, 1) for who in walk.ORDER)
    assert own + 3 <= taken.segments <= own + 3 * 2


def test_no_domain_has_a_gap_and_no_thread_takes_before_its_own_are_done(step):
    looks, taken, _ = step
    for domain, write in zip(looks[-1].domains, looks[-1].write, strict=True):
        assert all((name >= 0) == (element < write) for element, name in enumerate(domain))
    for look in looks:
        for domain, read, end in zip(look.domains, look.read, look.end, strict=True):
            fresh = [element for element, name in enumerate(domain) if name >= len(walk.ORDER)]
            assert all(element >= end - 1 or element < read for element in fresh)
    table = walk.table(looks)
    assert table["busy threads"].sum() == taken.segments
    assert len(table) == taken.launches


def test_as_printed_a_particle_is_taken_twice_and_others_are_lost():
    right, printed, again = pointers.three_rules().values()
    assert right[-1].memory[: right[-1].write] == ("A", "C", "D")
    assert pointers.lost(right, printed) == ["C", "D"]
    assert not any(state.happened.startswith(("C", "D")) for state in again)


def test_figures_show_every_launch(step):
    looks, _, _ = step
    _, arrays = figures.launches(looks)
    assert len(arrays["read"]) == len(looks)
    assert len(figures.rules(pointers.three_rules())[1]) == 3


def test_a_figure_has_columns(step):
    with pytest.raises(InputError, match="columns = 0: must be a whole number from 1 to 12$"):
        figures.launches(step[0], 0)


def test_electrons_move_straight_for_no_field_is_theirs():
    """And a wall is on their left, nothing else: who stays goes on as fast as before."""
    last = Mesh((walk.CELLS, 1, 1), (walk.SIDE,) * 3).nodes([[walk.CELLS - 1, 0, 0]])[0]
    found = walk.simulation(PlainPython(), walk.Neighbour(int(last)))
    before = {int(i): u for i, u in zip(found.particles()["ids"], found.system.electrons.momentum, strict=True)}
    found.step(1)
    after = found.particles()
    kept = {int(i): k for k, i in enumerate(after["ids"]) if int(i) in before}
    assert len(kept) >= 8
    for name, k in kept.items():
        np.testing.assert_array_equal(after["momentum"][k], before[name])
        # none leaves the plane that is drawn
        assert after["momentum"][k][2] == 0
    # nor does what comes back along x
    arrived = after["momentum"][list(after["ids"]).index(walk.ARRIVES)]
    assert arrived[0] < 0 == arrived[1] == arrived[2]


def test_what_becomes_of_each_electron_is_listed_by_its_number():
    table = walk.who().set_index("what becomes of it")["electron"]
    assert table["leaves"] == "7"
    assert table["is absorbed"] == "1, 6"
    assert table["is born in the step"] == "12, 13"
    assert table["comes from a neighbour"] == "90"
    own = [int(k) for kind in walk.ELECTRONS for k in table[kind].split(", ")]
    assert sorted(own) == list(range(len(walk.ORDER)))


def test_a_launch_is_told_by_what_it_changed():
    """Two threads: the first launch moves both on, the second one of them, whose particle then waits at the host."""
    first = walk.Look([[0, 1], [2, 3]], [0, 0], [0, 0], [2, 2], [[]], [[]], [], [0, 0])
    second = walk.Look([[0, 1], [2, 3]], [1, 1], [1, 0], [2, 2], [[7]], [[2]], [], [1, 1])
    third = walk.Look([[0, 1], [2, 3]], [2, 1], [2, 0], [2, 2], [[]], [[]], [2], [2, 1])
    expected = [(1, 2, 1, 2, 1, 1, 0), (2, 1, 2, 1, 0, 0, 1)]
    assert [tuple(row) for row in walk.table([first, second, third]).to_numpy()] == expected
