"""Whole numbers and names are looked at by one rule; a line shows what was given, on one line and not too long."""

import numpy as np
import pytest

from repro.errors import InputError, require_one_of, require_whole


@pytest.mark.parametrize("value", [True, np.True_, 2.0, "3", None, 11, -1, [1], float("nan")])
def test_what_is_no_whole_number_of_a_range_is_refused(value):
    with pytest.raises(InputError, match="runs = .*: must be a whole number from 0 to 10"):
        require_whole("runs", value, 0, 10)


@pytest.mark.parametrize("value", [0, 10, np.int8(3)])
def test_whole_numbers_of_any_library_are_taken(value):
    require_whole("runs", value, 0, 10)


@pytest.mark.parametrize("value", ["c", ["a"], {}, None, 1, "two\nlines"])
def test_what_is_none_of_the_names_is_refused_in_one_line(value):
    for names in (("a", "b"), {"a": 1, "b": 2}):
        with pytest.raises(InputError, match="unknown letter .*: choose one of a, b") as refused:
            require_one_of("letter", value, names)
        assert "\n" not in str(refused.value)


def test_a_long_value_is_cut():
    with pytest.raises(InputError) as refused:
        require_one_of("letter", "x" * 10_000, ("a",))
    assert len(str(refused.value)) < 120


@pytest.mark.parametrize("kind", [InputError, *InputError.__subclasses__()])
def test_a_notebook_shows_a_wrong_input_in_one_red_line(kind):
    assert kind("nodes = -3")._render_traceback_() == [f"\x1b[31m{kind.__name__}: nodes = -3\x1b[0m"]
