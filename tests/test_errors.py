"""Whole numbers and names are looked at by one rule; a line shows what was given, on one line and not too long."""

from pathlib import Path

import numpy as np
import pytest

from repro.errors import InputError, require_one_of, require_whole
from repro.files import regular_file
from repro.study.notebooks.parameters import check


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


def test_a_long_value_keeps_its_start_and_its_end():
    with pytest.raises(InputError, match=r"letter 'abc+x*\.\.\.x*yz': choose one of a$"):
        require_one_of("letter", f"abc{'x' * 10_000}yz", ("a",))


@pytest.mark.parametrize(
    "refuse",
    [
        lambda name: regular_file(Path("folder", name), "image"),
        lambda name: check({name: 3}, {"nodes": 4}, "cavity"),
        lambda name: require_whole(name, 1.5, 0, 3),
    ],
    ids=["file", "parameter", "key"],
)
@pytest.mark.parametrize(
    "name", ["first" + 9_000 * "x" + "last", "first" + 4_000 * "x " + "last"], ids=["word", "words"]
)
def test_a_name_of_thousands_of_characters_is_shown_by_its_start_and_its_end(refuse, name):
    with pytest.raises(InputError, match="first.*\\.\\.\\..*(last|x:|x',)") as refused:
        refuse(name)
    assert len(str(refused.value)) <= 2000


def test_no_name_moves_the_cursor_of_a_terminal_or_makes_a_second_line():
    message = str(InputError("a\x1b[2J\rb\nc\u202ed.npy: no such image file"))
    assert message == r"a\x1b[2J b c\u202ed.npy: no such image file"
    assert str(InputError(message)) == message


@pytest.mark.parametrize("kind", [InputError, *InputError.__subclasses__()])
def test_a_notebook_shows_a_wrong_input_in_one_red_line(kind):
    assert kind("nodes = -3")._render_traceback_() == [f"\x1b[31m{kind.__name__}: nodes = -3\x1b[0m"]
