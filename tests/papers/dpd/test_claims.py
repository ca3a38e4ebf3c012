"""The paper's claims: which depend on a chip; numbers of several runs are summed up."""

import pytest

from repro.errors import InputError
from repro.papers.speed import of_runs
from repro.study.judge import claims

CLAIMS = claims.load("dpd")


def test_mechanisms_are_orders_shares_and_gains_on_one_device_and_some_hang_on_its_chip():
    mechanisms = {claim.id for claim in CLAIMS.values() if claim.kind == "mechanism"}
    assert mechanisms == {f"dpd-{number:03d}" for number in (59, 68, 69, 83)}
    bound = {claim.id for claim in CLAIMS.values() if claim.kind == "hardware"}
    assert bound == {f"dpd-{number:03d}" for number in (5, 11, 37, 39, 63, 64, 85, 86, 87)}
    unstated = {claim.id for claim in CLAIMS.values() if claim.kind == "unstated"}
    assert unstated == {f"dpd-{number:03d}" for number in (58, 60, 62, 67, 84, 88)}


def test_a_gpu_that_is_slower_than_the_core_is_no_least_speedup():
    for claim in (CLAIMS["dpd-037"], CLAIMS["dpd-039"]):
        assert claim.rule == "at most"
        assert claim.bounds()[1] + claim.margin() == pytest.approx(1)


def test_counts_that_go_into_a_run_are_not_judged():
    for number in (31, 32, 34, 40, 46, 52):
        claim = CLAIMS[f"dpd-{number:03d}"]
        assert (claim.kind, claim.rule, claim.tolerance, claim.why) == ("setup", "", "", "")
        assert claim.note


def test_a_number_of_several_runs_is_their_median_and_how_far_they_lie_apart():
    assert of_runs([3, 1, 7, 2, 4], note="five") == {"measured": 3.0, "scatter": 6.0, "note": "five"}


def test_two_runs_tell_no_scatter():
    with pytest.raises(InputError, match="takes 3 at least"):
        of_runs([1.0, 2.0])
