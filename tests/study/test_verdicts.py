"""What is handed over is judged by the claim's rule and nothing else."""

from pathlib import Path

import pytest
from helpers.workshop import claim

from repro.errors import InputError
from repro.study.judge import claims
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Judgement, Verdict, judge, judge_by_first_rule
from repro.study.show.markdown import verdicts

HIT, MISS, TIE, NEWER = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.TIE, Verdict.NEWER_HARDWARE
ORDER = {"a": [3, 4, 5], "b": [1, 2, 2]}


def verdict(judged, measured, **more) -> Verdict:
    return judge(judged, Evidence(measured, **more)).verdict


@pytest.mark.parametrize(
    ("value", "rule", "tolerance", "measured", "expected"),
    [
        ("10", "within", "0.5", 9.5, HIT),
        ("10", "within", "0.5", 9.499, MISS),
        ("10", "within", "0.5", 10.5, HIT),
        ("10", "within", "0.5", 10.501, MISS),
        ("4-5", "within", "10 %", 3.5, HIT),
        ("4-5", "within", "10 %", 3.49, MISS),
        ("4-5", "within", "10 %", 5.5, HIT),
        ("4-5", "within", "10 %", 5.51, MISS),
        ("10", "at least", "", 10, HIT),
        ("10", "at least", "", 9.999, MISS),
        ("10", "at least", "", 1e9, HIT),
        ("10", "at least", "0.5", 9.5, HIT),
        ("10", "at least", "0.5", 9.499, MISS),
        ("10", "at most", "", 10, HIT),
        ("10", "at most", "", 10.001, MISS),
        ("10", "at most", "", -1e9, HIT),
        ("10", "at most", "5 %", 10.5, HIT),
        ("10", "at most", "5 %", 10.501, MISS),
        # of a range, the end that the bound means
        ("4-5", "at least", "", 4, HIT),
        ("4-5", "at least", "", 3.999, MISS),
        ("4-5", "at most", "", 5, HIT),
        ("4-5", "at most", "", 5.001, MISS),
        # the tolerance is a share of the number, whatever its sign
        ("-10", "within", "10 %", -11, HIT),
        ("-10", "within", "10 %", -8.999, MISS),
    ],
)
def test_each_rule_decides_at_its_bound(value, rule, tolerance, measured, expected):
    assert verdict(claim(value, rule, tolerance), measured) == expected


def test_difference_equal_to_the_tolerance_is_within_it_though_binary_numbers_are_not_decimal():
    assert verdict(claim("0.5543", tolerance="0.0015"), 0.5543 + 0.0015) == HIT
    assert verdict(claim("0.5543", tolerance="0.0015"), 0.5543 - 0.0015) == HIT
    # 0.8 - 0.1 > 0.7 and 0.7 + 0.1 < 0.8
    assert verdict(claim("0.8", tolerance="0.1"), 0.7) == HIT
    assert verdict(claim("0.7", tolerance="0.1"), 0.8) == HIT


@pytest.mark.parametrize(("rule", "meets", "misses"), [("at least", 11, 9), ("at most", 9, 11)])
def test_bound_on_a_speed_that_holds_is_met_by_newer_hardware(rule, meets, misses):
    assert verdict(claim(rule=rule, kind="speed"), meets) == NEWER
    assert verdict(claim(rule=rule, kind="speed"), misses) == MISS


@pytest.mark.parametrize("kind", ["physics", "mechanism"])
@pytest.mark.parametrize(("rule", "meets"), [("at least", 11), ("at most", 9)])
def test_bound_on_physics_or_a_mechanism_that_holds_is_reproduced(kind, rule, meets):
    assert verdict(claim(rule=rule, kind=kind), meets) == HIT


def test_speed_within_its_tolerance_is_reproduced():
    assert verdict(claim(tolerance="1", kind="speed"), 10.5) == HIT


def test_order_of_speeds_that_holds_is_reproduced():
    assert verdict(claim("a > b", "order", kind="speed"), ORDER) == HIT


RISES = "> 0: it rises"
THREE = {"a": [3, 4, 5], "b": [1, 2, 2], "c": [0, 0, 0]}


@pytest.mark.parametrize(
    ("judged", "miss"),
    [
        (claim(tolerance="1", trend=RISES), 12.0),
        (claim("-10", tolerance="1", trend="< 0: it falls"), -3.0),
        (claim("b > a > c", "order", kind="mechanism", trend="a > c: it falls in the end"), THREE),
        (claim("b > a", "order", kind="mechanism", trend="a > b: it falls"), {"x": ORDER, "y": ORDER}),
    ],
)
def test_miss_with_the_trend_of_the_claim_is_trend_only_and_says_which(judged, miss):
    judgement = judge(judged, Evidence(miss))
    assert judgement.verdict == Verdict.TREND_ONLY
    assert judgement.reason.startswith(("it rises; ", "it falls"))


@pytest.mark.parametrize(
    ("judged", "evidence"),
    [
        # the bound itself, the other side, and a scatter that reaches over it
        (claim(tolerance="1", trend=RISES), Evidence(0.0)),
        (claim(tolerance="1", trend=RISES), Evidence(-3.0)),
        (claim(tolerance="1", trend=RISES), Evidence(2.0, scatter=2.5)),
        (claim("-10", tolerance="1", trend="< 0: it falls"), Evidence(3.0)),
        (claim("-10", tolerance="1", trend="< 0: it falls"), Evidence(0.0)),
        (claim("-10", tolerance="1", trend="< 0: it falls"), Evidence(-2.0, scatter=2.5)),
        (claim("b > a", "order", kind="mechanism", trend="a > d: it falls"), Evidence(ORDER)),
        (claim("b > a > c", "order", kind="mechanism", trend="c > a: it rises"), Evidence(THREE)),
        # entries that overlap, and one that was not measured
        (
            claim("b > a", "order", kind="mechanism", trend="a > b: it falls"),
            Evidence({"x": ORDER, "y": {"a": [1, 1, 3], "b": [2, 2, 2]}}),
        ),
    ],
)
def test_miss_without_the_trend_is_not_reproduced(judged, evidence):
    assert judge(judged, evidence).verdict in (MISS, TIE)
    assert judge(judged, evidence).verdict != Verdict.TREND_ONLY


def test_trend_changes_no_hit_and_no_tie():
    assert verdict(claim(tolerance="1", trend=RISES), 10) == HIT
    assert verdict(claim(rule="at least", kind="speed", trend=RISES), 11) == NEWER
    assert verdict(claim(tolerance="1", trend=RISES), 10, scatter=2) == TIE


@pytest.mark.parametrize("kind", claims.INCOMPARABLE)
@pytest.mark.parametrize("measured", [10.0, 9.0, 11.0, 0.0, 1e9])
@pytest.mark.parametrize("rule", ["within", "at least", "at most"])
def test_what_hangs_on_hardware_is_not_comparable_met_or_missed(kind, measured, rule):
    judgement = judge(claim(rule=rule, kind=kind, why="a cache", unit="%", trend=RISES), Evidence(measured))
    assert judgement.verdict == Verdict.NOT_COMPARABLE
    assert judgement.reason.endswith("10 % in the paper: a cache")


@pytest.mark.parametrize("stated", ["a > b", "b > a", "a"])
def test_an_order_of_hardware_is_not_comparable_either_way(stated):
    judgement = judge(claim(stated, "order", kind="hardware", why="a cache"), Evidence(ORDER))
    assert judgement.verdict == Verdict.NOT_COMPARABLE
    assert judgement.reason.startswith("a > b here")


def test_what_hangs_on_hardware_and_was_not_measured_is_not_measured():
    silent = Evidence(not_measured="no GPU")
    assert judge(claim(kind="hardware", why="a cache"), silent).verdict == Verdict.NOT_MEASURED


def test_a_speedup_that_is_missed_is_a_ratio_of_two_processors_and_not_comparable():
    speedup = claim(rule="at least", kind="speed", unit="x")
    assert verdict(speedup, 9) == Verdict.NOT_COMPARABLE
    assert verdict(speedup, 11) == NEWER
    assert verdict(speedup, 10, scatter=1) == TIE
    # a gain on one device is none
    assert verdict(claim(rule="at least", kind="mechanism", unit="x"), 9) == MISS


@pytest.mark.parametrize("kind", [*claims.SHOWN, "setup"])
def test_arithmetic_yardsticks_and_set_up_have_no_verdict(kind):
    assert judge(claim(rule="", kind=kind, why="by definition"), Evidence(10.0)).verdict == kind


WAS = "rule = at most | tolerance = 1 | reason = a node"


def test_the_first_rule_judges_todays_value_where_the_same_was_measured():
    judged = claim(tolerance="0.1", was=WAS)
    assert verdict(judged, 9) == MISS
    assert judge_by_first_rule(judged, Evidence(9.0)).verdict == HIT
    assert judge_by_first_rule(judged, Evidence(11.5)).verdict == MISS
    assert judge_by_first_rule(claim(), Evidence(9.0)) is None


@pytest.mark.parametrize(
    ("was", "expected"),
    [
        ("quantity = gain in time | value = 1 | rule = at least | measured = 0.78 | reason = another gain", MISS),
        ("value = 1 | rule = at least | measured = 1.2 | reason = another gain", HIT),
        ("value = a < b < c | rule = order | measured = a = 1, b = 3, c = 2 | reason = b left out", MISS),
        ("value = a < b | rule = order | measured = a = 1, b = 3 | reason = b left out", HIT),
        ("value = a < b | rule = order | measured = x: a = 1, b = 3; y: a = 1 2, b = 3 1.5 | reason = y", TIE),
        ("kind = speed | rule = at least | measured = 12 | reason = a chip", NEWER),
        ("rule = within | tolerance = 1 | measured = 0 | reason = nothing was found", MISS),
        # first rules know nothing of what is comparable
        ("kind = speed | unit = x | rule = at least | measured = 2 | reason = a chip", MISS),
    ],
)
def test_the_first_rule_judges_what_was_measured_by_it(was, expected):
    for kind, rule in (("physics", "within"), ("hardware", "within"), ("arithmetic", "")):
        judged = claim(rule=rule, kind=kind, why="so", was=was if "kind" in was else f"kind = physics | {was}")
        assert judge_by_first_rule(judged, Evidence(10.0)).verdict == expected


def test_without_a_value_the_first_rule_gives_none():
    silent = Evidence(not_measured="no GPU")
    assert judge_by_first_rule(claim(was=WAS), silent).verdict == Verdict.NOT_MEASURED


@pytest.mark.parametrize(
    ("rule", "measured", "scatter", "expected"),
    [
        # from within and from beyond, and at both ends of what is allowed
        ("at least", 11, 1.01, TIE),
        ("at least", 9, 1.01, TIE),
        ("at least", 11, 1.0, NEWER),
        ("at least", 9, 0.99, MISS),
        ("at most", 9, 1.01, TIE),
        ("at most", 11, 1.01, TIE),
        ("at most", 9, 1.0, NEWER),
        ("at most", 11, 0.99, MISS),
        ("within", 10.5, 0.51, TIE),
        ("within", 9.5, 0.51, TIE),
        ("within", 11.5, 0.51, TIE),
        ("within", 8.5, 0.51, TIE),
        ("within", 10.5, 0.5, HIT),
        ("within", 9.5, 0.5, HIT),
        ("within", 11.5, 0.49, MISS),
        ("within", 8.5, 0.49, MISS),
        # so wide that it reaches over everything that is allowed
        ("within", 10, 5, TIE),
        ("within", 12, 5, TIE),
        ("within", 8, 5, TIE),
    ],
)
def test_scatter_that_reaches_over_a_bound_is_a_tie_and_less_is_none(rule, measured, scatter, expected):
    judged = claim(rule=rule, tolerance="1" if rule == "within" else "", kind="speed")
    assert verdict(judged, measured, scatter=scatter) == expected


def test_tie_says_by_how_much_runs_differ():
    assert judge(claim(tolerance="1"), Evidence(10.5, scatter=0.75)).reason.endswith("; runs differ by 0.75")


def test_not_measured_keeps_its_reason_though_a_number_would_fit():
    judgement = judge(claim(), Evidence(10, not_measured="not at this size"))
    assert (judgement.verdict, judgement.reason) == (Verdict.NOT_MEASURED, "not at this size")


@pytest.mark.parametrize(
    ("judged", "why"),
    [(claim("64x64", "", kind="setup"), "it states the set-up"), (claim(same_as="toy-009"), "it restates toy-009")],
)
def test_what_has_no_verdict_of_its_own_is_not_judged(judged, why):
    assert judge(judged, Evidence(10)) == Judgement(judged.kind, why)


def test_number_for_an_order_is_refused():
    with pytest.raises(InputError, match=r"toy-001: the claim asks for an order of entries .*, not 10"):
        judge(claim("a > b", "order"), Evidence(10))


@pytest.mark.parametrize("rule", ["within", "at least", "at most"])
def test_order_for_a_number_is_refused(rule):
    with pytest.raises(InputError, match="toy-001: the claim asks for a number, not"):
        judge(claim(rule=rule), Evidence(ORDER))


@pytest.mark.parametrize(
    ("rule", "tolerance", "measured", "reason"),
    [
        ("within", "0.0015", 0.5541, "0.5541 against 0.5543 x/L (paper), difference 0.0002 within 0.0015"),
        ("within", "0.0015", 0.5, "0.5 against 0.5543 x/L (paper), difference 0.054 beyond 0.0015"),
        ("at least", "", 0.6, "0.6 against at least 0.5543 x/L (paper)"),
        ("at most", "0.1", 0.6, "0.6 against at most 0.5543 x/L (paper) (tolerance 0.1)"),
    ],
)
def test_reason_is_a_sentence_with_the_numbers(rule, tolerance, measured, reason):
    assert judge(claim("0.5543", rule, tolerance, unit="x/L"), Evidence(measured)).reason == reason


@pytest.mark.parametrize(
    ("judged", "measured", "end"),
    [
        (claim("0.5543", tolerance="0.0015"), 0.5543 + 0.00150004, "difference 0.00150004 beyond 0.0015"),
        (claim("0.5543", tolerance="0.0015"), 0.5543 + 0.00149, "difference 0.00149 within 0.0015"),
        (claim("0.5543", tolerance="0.0015"), 0.5543 - 0.0015, "difference 0.0015 within 0.0015"),
        (claim("924", "at least"), 923.9999, "923.9999 against at least 924 (paper)"),
        (claim("1", tolerance="0.01"), 1.0000021, "1.000002 against 1 (paper), difference 2.1e-06 within 0.01"),
        (claim("39000", tolerance="10 %"), 24000, "24,000 against 39,000 (paper), difference 15,000 beyond 3,900"),
        # of a range, from the nearer end
        (claim("4-5", tolerance="10 %"), 5.25, "5.25 against 4 to 5 (paper), difference 0.25 within 0.5"),
        # inside a range there is no end to be told apart from
        (claim("4-5", tolerance="10 %"), 4.0000021, "4 against 4 to 5 (paper), difference 0 within 0.5"),
        (claim("4-5", tolerance="10 %"), 4.75, "4.75 against 4 to 5 (paper), difference 0 within 0.5"),
        (claim("315.45", tolerance="1 %"), 315.45, "315.45 against 315.45 (paper), difference 0 within 3.15"),
    ],
)
def test_numbers_in_a_reason_differ_where_the_values_do(judged, measured, end):
    assert judge(judged, Evidence(measured)).reason.endswith(end)


def test_the_readme_and_the_scoreboard_say_the_same_of_every_verdict():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert verdicts() in readme
    assert len(verdicts().splitlines()) == 2 + len(Verdict) == 9
