"""What a notebook hands over must be what it claims to be; what is wrong is named with its claim."""

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.study.judge.evidence import Evidence, read_evidence

ORDER = {"a": [1, 2, 3], "b": [4, 5, 6.5]}
BROKEN = [math.nan, math.inf, -math.inf, 10**400, "nan", "0.5", "", True, [], [1.0], {}, b"1", 1j]


@pytest.mark.parametrize("value", BROKEN, ids=repr)
def test_what_is_no_finite_number_is_refused_with_the_name_of_the_claim(value):
    with pytest.raises(InputError, match="^toy-001: "):
        read_evidence("toy-001", {"measured": value})


@pytest.mark.parametrize("value", BROKEN, ids=repr)
def test_what_is_no_finite_number_is_refused_within_an_order(value):
    for order in (ORDER | {"c": [1, 2, value]}, {"case": ORDER, "other": ORDER | {"a": [value, 2, 3]}}):
        with pytest.raises(InputError, match="^toy-001: '[ac]' is "):
            read_evidence("toy-001", {"measured": order})


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2, 3]},
        {"a": 1, "b": 2},
        {"a": [1, 2, 3], "b": {"c": [1, 2, 3]}},
        {"a": {"b": {"c": [1, 2, 3], "d": [1, 2, 3]}, "e": [1, 2, 3]}},
        {"case": {}},
        {"case": {"a": [1, 2, 3]}},
        {"a": "123", "b": "456"},
    ],
    ids=repr,
)
def test_what_is_no_order_is_refused_with_the_name_of_the_claim(value):
    with pytest.raises(InputError, match="^toy-001: "):
        read_evidence("toy-001", {"measured": value})


@pytest.mark.parametrize("key", ["verdict", "reason", "converged", "mesured"])
def test_unknown_key_is_refused_so_that_no_verdict_can_be_written_down(key):
    with pytest.raises(InputError, match=f"toy-001: unknown key '{key}'"):
        read_evidence("toy-001", {"measured": 1.0, key: "reproduced"})


@pytest.mark.parametrize("entry", [None, 1.0, "reproduced", [], ["measured"]], ids=repr)
def test_entry_that_is_no_table_is_refused(entry):
    with pytest.raises(InputError, match="toy-001: its entry is no table"):
        read_evidence("toy-001", entry)


@pytest.mark.parametrize("key", ["baseline", "not_measured", "note"])
@pytest.mark.parametrize("value", [True, 1, None, ["it rises"]], ids=repr)
def test_words_that_are_no_text_are_refused(key, value):
    with pytest.raises(InputError, match=f"toy-001: {key} is not a text"):
        read_evidence("toy-001", {"measured": 1.0, key: value})


@pytest.mark.parametrize("value", [v for v in BROKEN if v != {}] + [-0.1, {"a": 1}], ids=repr)
def test_scatter_that_is_no_length_is_refused(value):
    with pytest.raises(InputError, match="^toy-001: the scatter is "):
        read_evidence("toy-001", {"measured": 1.0, "scatter": value})


@pytest.mark.parametrize("entry", [{}, {"measured": None}, {"measured": None, "note": "no GPU"}], ids=repr)
def test_neither_a_value_nor_a_reason_is_refused(entry):
    with pytest.raises(InputError, match="toy-001: neither a value nor the reason"):
        read_evidence("toy-001", entry)


WORDS = {name: st.text() for name in ("baseline", "not_measured", "note")}
NUMBERS = st.integers(-(10**12), 10**12) | st.floats(-sys.float_info.max, sys.float_info.max)
MANY = st.dictionaries(st.text(), st.lists(NUMBERS, min_size=3, max_size=4), min_size=2, max_size=3)


@given(st.builds(Evidence, NUMBERS | MANY, st.none() | st.floats(0, 1e9), **WORDS))
def test_what_is_kept_reads_as_what_was_handed_over(evidence):
    assert read_evidence("toy-001", evidence.entry) == evidence


def test_speedup_is_shown_with_what_it_is_over():
    assert Evidence(4.256789, baseline="the loop in C on one core, 5 MLUPS").shown() == (
        "4.2568 (over the loop in C on one core, 5 MLUPS)"
    )


def test_orders_are_shown_as_they_were_found():
    assert Evidence({"x": ORDER, "y": ORDER}).shown() == "x: b > a; y: b > a"


def test_entries_are_shown_by_their_medians_whatever_a_single_repetition_was():
    assert Evidence({"a": [1.0, 1.0, 9.0], "b": [2.0, 3.0, 4.0], "c": [7.0, 8.0, 8.0]}).shown() == "c > b ~ a"


def test_orders_are_shown_in_the_direction_of_the_stated_one():
    assert Evidence(ORDER).shown("b < a") == "a < b"
