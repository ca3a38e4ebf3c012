"""Electrons on several ranks: histories are the same bit for bit, and no particle is lost or doubled."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.rank_electrons import end_of

from repro.errors import CapacityError
from repro.parallel.ranks.launch import launch
from repro.parallel.ranks.world import Alone
from repro.pic.mesh import Mesh
from repro.pic.packing import entries_here
from repro.pic.subdomain import Subdomain
from repro.pic.system import Electrons, System

PROGRAM = Path(__file__).parents[1] / "helpers" / "rank_electrons.py"


#: cases and their steps by the number of ranks, which begin once for all of them: to begin takes longer than to run
RUNS = {
    2: (("unsorted", 1000), ("walls", 30), ("air", 30), ("air in baskets", 30)),
    3: (("baskets", 30),),
    4: (("periodic", 100),),
    7: (("periodic", 100),),
}


@cache
def ends(ranks: int) -> dict:
    """What the electrons of each case are at its end on so many ranks."""
    words = [word for run in RUNS[ranks] for word in run]
    return dict(zip(RUNS[ranks], json.loads(launch(ranks, str(PROGRAM), words, timeout=200)), strict=True))


@cache
def run_alone(case: str, steps: int) -> dict:
    return end_of(case, steps, Alone())


@pytest.mark.parametrize(
    ("ranks", "case", "steps"),
    [(2, "unsorted", 1000), (4, "periodic", 100), (7, "periodic", 100)],
)
def test_many_steps_lose_and_double_nobody_and_give_the_bits_of_one_rank(ranks, case, steps):
    # the count of every step is checked within it, see `repro.parallel.ranks.migration`
    alone, found = run_alone("periodic", steps), ends(ranks)[case, steps]
    assert alone["count"] == alone["different"] == 200 + 300 + 2 * steps
    assert found == alone


@pytest.mark.parametrize("case", ["walls", "air"])
def test_walls_that_absorb_and_collisions_give_the_bits_of_one_rank(case):
    alone = run_alone(case, 30)
    assert ends(2)[case, 30] == alone
    # electrons were absorbed, or secondaries set free
    assert (alone["count"] < 560) if case == "walls" else (alone["count"] != 560)


def test_the_papers_strategy_takes_whoever_crosses_to_another_rank_into_its_baskets():
    assert ends(3)["baskets", 30] == run_alone("walls", 30)


def test_a_source_in_air_with_a_field_of_its_own_has_the_same_histories_in_baskets_on_ranks():
    assert ends(2)["air in baskets", 30] == run_alone("air", 30)


class FirstOf:
    """The first of so many ranks, which exchanges nothing."""

    rank = 0

    def __init__(self, count):
        self.count = count


class Placing:
    """What `entries_here` asks of a simulation on a rank."""

    def __init__(self, system, ranks):
        self.ranks, self.subdomain = ranks, Subdomain(system, ranks, None)


@pytest.mark.parametrize(("ranks", "count"), [(4, 5000), (2, 3000), (16, 1000)])
def test_a_part_that_is_too_full_names_a_capacity_that_works(ranks, count):
    # all electrons are in one part of the box
    mesh, cells = Mesh((16, 2, 2), (1e-3,) * 3), np.zeros((count, 3), int)
    electrons = Electrons(np.full((count, 3), 1e-4), np.zeros((count, 3)), np.ones(count))
    system = System(mesh, 1e-13, electrons, self_field=False)
    line = f"{count} particles in the part of rank 0, and room for [0-9]+: take a capacity of [0-9]+, or fewer ranks"
    with pytest.raises(CapacityError, match=line) as caught:
        entries_here(Placing(system, FirstOf(ranks)), cells)
    wanted = int(str(caught.value).split("capacity of ")[1].split(",")[0])
    larger = System(mesh, 1e-13, electrons, self_field=False, capacity=wanted)
    assert len(entries_here(Placing(larger, FirstOf(ranks)), cells)[0]) == count
