import math

import pytest

from repro.errors import InputError
from repro.study import claims
from repro.study.verdicts import Verdict, judge


@pytest.fixture
def toy(workshop):
    return claims.load("toy", workshop.project)


@pytest.mark.parametrize(
    ("claim", "measured", "verdict"),
    [
        ("toy-001", 0.5543 + 0.0015, Verdict.REPRODUCED),
        ("toy-001", 0.5543 - 0.00151, Verdict.NOT_REPRODUCED),
        ("toy-001", math.nan, Verdict.NOT_REPRODUCED),
        ("toy-002", 924, Verdict.REPRODUCED),
        ("toy-002", 923.9, Verdict.NOT_REPRODUCED),
        ("toy-002", math.inf, Verdict.NOT_REPRODUCED),
        ("toy-003", 0.2, Verdict.REPRODUCED),
        ("toy-003", 0.21, Verdict.NOT_REPRODUCED),
        ("toy-004", 128, Verdict.REPRODUCED),
        ("toy-004", "64", Verdict.NOT_REPRODUCED),
        ("toy-006", 3.5, Verdict.REPRODUCED),
        ("toy-006", 5.51, Verdict.NOT_REPRODUCED),
    ],
)
def test_each_rule_judges_by_its_tolerance(toy, claim, measured, verdict):
    assert judge(toy[claim], measured).verdict == verdict


def test_reason_is_a_sentence_with_the_numbers(toy):
    reason = judge(toy["toy-001"], 0.5541).reason
    assert reason == "0.5541 against 0.5543 x/L (paper), difference 0.0002 within 0.0015"


@pytest.mark.parametrize(
    ("claim", "measured", "end"),
    [
        ("toy-001", 0.5543 + 0.00150004, "difference 0.00150004 beyond 0.0015"),
        ("toy-001", 0.5543 + 0.00149, "difference 0.00149 within 0.0015"),
        ("toy-001", 0.5543 - 0.0015, "difference 0.0015 within 0.0015"),
        ("toy-002", 923.9999, "923.9999 against at least 924 MLUPS (paper)"),
    ],
)
def test_numbers_in_a_reason_differ_where_the_values_do(toy, claim, measured, end):
    assert judge(toy[claim], measured).reason.endswith(end)


def test_trend_turns_a_miss_into_trend_only_but_never_nan(toy):
    assert judge(toy["toy-001"], 0.6, trend="it rises").verdict == Verdict.TREND_ONLY
    assert judge(toy["toy-001"], 0.5543, trend="it rises").verdict == Verdict.REPRODUCED
    assert judge(toy["toy-001"], math.nan, trend="it rises").verdict == Verdict.NOT_REPRODUCED


def test_not_comparable_keeps_its_reason(toy):
    judgement = judge(toy["toy-002"], 5.0, not_comparable="no GPU")
    assert (judgement.verdict, judgement.reason) == (Verdict.NOT_COMPARABLE, "no GPU")


def test_setup_is_never_judged(toy):
    with pytest.raises(InputError, match="set-up"):
        judge(toy["toy-005"], 1)


@pytest.mark.parametrize(
    ("value", "bounds"),
    [
        ("4-5", (4, 5)),
        (">100", (100, 100)),
        ("about 70", (70, 70)),
        ("1/12", (1 / 12, 1 / 12)),
        ("1e-06", (1e-6, 1e-6)),
    ],
)
def test_printed_values_are_read_as_ranges(toy, value, bounds):
    claim = claims.Claim(**{**vars(toy["toy-001"]), "value": value})
    assert claim.bounds() == pytest.approx(bounds)


def test_unknown_claim_offers_the_nearest(workshop):
    with pytest.raises(InputError, match="unknown claim 'toy-01': did you mean"):
        claims.find(["toy-01"], workshop.project)


@pytest.mark.parametrize(
    ("old", "new"),
    [("physics,within", "physic,within"), ("0.5543,x/L", "big,x/L"), ("setup,,", "setup,within,")],
)
def test_broken_claims_file_names_the_claim(workshop, old, new):
    file = workshop.project.data / "published/toy.csv"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(InputError, match="claim toy-00"):
        claims.load("toy", workshop.project)
