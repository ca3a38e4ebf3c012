"""Electrons on several ranks: histories are the same bit for bit, and no particle is lost or doubled."""

import json
from functools import cache
from pathlib import Path

import pytest

from repro.parallel.ranks.launch import launch

PROGRAM = Path(__file__).parents[1] / "helpers" / "rank_electrons.py"


@cache
def run(ranks: int, case: str, steps: int) -> dict:
    return json.loads(launch(ranks, str(PROGRAM), [case, steps], timeout=200))


@pytest.mark.parametrize(
    ("ranks", "case", "steps"),
    [(2, "unsorted", 1000), (4, "periodic", 100), (7, "periodic", 100)],
)
def test_many_steps_lose_and_double_nobody_and_give_the_bits_of_one_rank(ranks, case, steps):
    # the count of every step is checked within it, see `repro.parallel.ranks.migration`
    alone, found = run(1, "periodic", steps), run(ranks, case, steps)
    assert alone["count"] == alone["different"] == 200 + 300 + 2 * steps
    assert found == alone


@pytest.mark.parametrize("case", ["walls", "air"])
def test_walls_that_absorb_and_collisions_give_the_bits_of_one_rank(case):
    alone = run(1, case, 30)
    assert run(2, case, 30) == alone
    # electrons were absorbed, or secondaries set free
    assert (alone["count"] < 560) if case == "walls" else (alone["count"] != 560)


def test_the_papers_strategy_takes_whoever_crosses_to_another_rank_into_its_baskets():
    assert run(3, "baskets", 30) == run(1, "walls", 30)
