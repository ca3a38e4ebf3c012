"""An order holds only if every repetition of the one lies above every repetition of the other."""

import pytest
from helpers.workshop import claim
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.study.judge.evidence import Evidence, check_evidence, found
from repro.study.judge.verdicts import Verdict, judge

HIT, MISS, TIE = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.TIE
A, B, C = [30, 31, 32], [20, 21, 22], [10, 11, 12]
REACHES_B = [12, 13, 20]


def verdict(stated: str, measured) -> Verdict:
    evidence = check_evidence("toy-001", Evidence(measured))
    return judge(claim(stated, "order", kind="mechanism"), evidence).verdict


@pytest.mark.parametrize(
    ("stated", "measured", "expected"),
    [
        ("a > b > c", {"a": A, "b": B, "c": C}, HIT),
        ("a > b > c", {"a": B, "b": A, "c": C}, MISS),
        ("a > b > c", {"a": A, "b": B, "c": REACHES_B}, TIE),
        # not only neighbours: the first may not lie below the last
        ("a > b > c", {"a": [10, 11, 12], "b": [9, 15, 30], "c": [13, 14, 15]}, MISS),
        ("a < b", {"a": B, "b": A}, HIT),
        ("a < b", {"a": A, "b": B}, MISS),
        ("a < b < c", {"a": C, "b": REACHES_B, "c": A}, TIE),
        # the largest alone
        ("a", {"a": A, "b": B, "c": C}, HIT),
        ("a", {"a": B, "b": A, "c": C}, MISS),
        ("b", {"c": REACHES_B, "b": B, "d": C}, TIE),
        # what does not decide may be in any order
        ("a", {"a": A, "b": C, "c": C}, HIT),
        # not told apart: either order is right
        ("a = b > c", {"a": A, "b": B, "c": C}, HIT),
        ("a = b > c", {"a": B, "b": A, "c": C}, HIT),
        ("a = b > c", {"a": A, "b": C, "c": B}, MISS),
        ("a = b > c", {"a": A, "b": B, "c": REACHES_B}, TIE),
        ("a = b", {"a": A, "b": C, "c": B}, HIT),
        ("a = b", {"a": B, "b": C, "c": A}, MISS),
        # the larger of the two stands for both, whichever is named first
        ("a = b", {"a": C, "b": A, "c": B}, HIT),
    ],
)
def test_stated_order_decides(stated, measured, expected):
    assert verdict(stated, measured) == expected


@pytest.mark.parametrize(
    ("second", "expected"),
    [([27, 28, 29], HIT), ([27, 28, 30], TIE), ([27, 28, 40], TIE), ([32, 33, 34], TIE), ([33, 34, 35], MISS)],
)
def test_repetitions_that_touch_or_overlap_are_a_tie_and_reversed_beyond_overlap_a_miss(second, expected):
    assert verdict("a > b", {"a": A, "b": second}) == expected


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ([{"a": A, "b": B}, {"a": B, "b": C}], HIT),
        ([{"a": A, "b": B}, {"a": B, "b": REACHES_B}], TIE),
        ([{"a": A, "b": B}, {"a": B, "b": A}], MISS),
        ([{"a": B, "b": REACHES_B}, {"a": B, "b": A}], MISS),
    ],
)
def test_of_several_cases_the_worst_decides(cases, expected):
    for order in (cases, cases[::-1]):
        assert verdict("a > b", {f"case {n}": case for n, case in enumerate(order)}) == expected


@pytest.mark.parametrize("stated", ["a > b > d", "d", "d < a"])
def test_name_that_was_not_measured_is_refused(stated):
    with pytest.raises(InputError, match="names d, but a, b, c were measured"):
        verdict(stated, {"a": A, "b": B, "c": C})


def test_entry_that_the_order_leaves_out_is_refused():
    with pytest.raises(InputError, match="leaves out c, which were measured"):
        verdict("a > b", {"a": A, "b": B, "c": C})


def test_case_that_lacks_a_name_is_refused():
    with pytest.raises(InputError, match="names b, but a, c were measured"):
        verdict("a > b", {"one": {"a": A, "b": B}, "two": {"a": A, "c": B}})


def test_order_that_tells_nothing_apart_is_refused_because_it_cannot_fail():
    with pytest.raises(InputError, match="'a = b' cannot fail"):
        verdict("a = b", {"a": A, "b": B})


@pytest.mark.parametrize("measured", [{"a": A, "b": B[:2]}, {"a": A, "b": []}, {"1": {"a": A, "b": B[:1]}}])
def test_fewer_than_three_repetitions_are_refused(measured):
    with pytest.raises(InputError, match="toy-001: 'b' needs 3 independent repetitions or more"):
        verdict("a > b", measured)


@pytest.mark.parametrize(
    ("stated", "text"),
    [("a > b > c", "a > b ~ c"), ("c < b < a", "c ~ b < a"), ("a", "a > b ~ c")],
)
def test_order_found_is_written_in_the_direction_of_the_stated_one(stated, text):
    order = {"c": REACHES_B, "a": A, "b": B}
    assert found(order, stated) == text
    assert judge(claim(stated, "order"), Evidence(order)).reason == f"{text} against {stated} (paper)"


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ({"Re=100": (A, B), "Re=400": (B, A)}, "a > b (paper): found at Re=100; not found at Re=400"),
        ({"Re=100": (A, B), "Re=400": (B, C)}, "a > b (paper): found in all 2 cases"),
        ({"one": (B, REACHES_B), "two": (C, B)}, "a > b (paper): not told apart at one; not found at two"),
    ],
)
def test_reason_names_the_cases(cases, reason):
    measured = {case: {"a": a, "b": b} for case, (a, b) in cases.items()}
    assert judge(claim("a > b", "order"), Evidence(measured)).reason == reason


REPETITIONS = st.lists(st.integers(0, 30), min_size=3, max_size=5)
ORDERS = st.fixed_dictionaries(dict.fromkeys("abc", REPETITIONS))
STATED = st.sampled_from(["a > b > c", "c < a < b", "a", "a = b > c", "c > a = b", "a = c"])


@given(STATED, ORDERS, st.permutations("abc"), st.randoms())
def test_verdict_does_not_depend_on_the_order_of_entries_and_repetitions(stated, order, names, random):
    shuffled = {name: random.sample(order[name], len(order[name])) for name in names}
    assert verdict(stated, shuffled) == verdict(stated, order)


@given(STATED, ORDERS, st.integers(1, 1000) | st.sampled_from([0.5, 2.0**-20]))
def test_another_unit_changes_nothing(stated, order, factor):
    scaled = {name: [value * factor for value in values] for name, values in order.items()}
    assert verdict(stated, scaled) == verdict(stated, order)
    assert found(scaled, stated) == found(order, stated)


@given(ORDERS)
def test_two_opposite_orders_are_never_both_reproduced(order):
    assert [verdict("a > b > c", order), verdict("a < b < c", order)].count(HIT) < 2


@given(ORDERS)
def test_an_order_in_which_one_is_reproduced_is_not_reproduced_backwards(order):
    if verdict("a > b > c", order) == HIT:
        assert verdict("c > b > a", order) == MISS
