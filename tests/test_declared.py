"""Rules of parameters: what holds, and that a refusal names parameter, value and what would be right."""

import importlib.util
from dataclasses import dataclass
from math import inf, nan
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.declared import Above, Array, Device, Each, Flag, Kind, Number, Numbers, OneOf, OrNone, Text, Whole, checked
from repro.errors import InputError
from repro.parallel import select

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        (Number(), [0, -1.5, np.float32(2), np.int64(3)], [nan, inf, "1", None, True, 1j, [1.0], 10**400, 1e40]),
        (Number(), [1e36, -1e36], [1.001e36, -1.001e36]),
        (Number(0, 1), [0, 1, 0.5], [-1e-9, 1.1]),
        (Number(infinite=True), [inf, -inf, 0], [nan, 2e36]),
        (Number(0, infinite=True), [inf, 0], [-inf]),
        (Above(0), [1e-30], [0, -0.0]),
        (Above(0, below=1), [0.5], [0, 1]),
        (Whole(), [0, 2**31 - 1], [-1, 2**31]),
        (Whole(1, 8), [1, 8, np.int32(4)], [0, 9, 1.0, "1", True, np.True_, nan, None]),
        (OneOf({"a": 1, "b": 2}, "fastest"), ["a", "fastest"], ["c", "", None, ["a"], 1]),
        (Flag(), [True, np.False_], [0, 1, "no", None]),
        (Text(), ["", "two words"], ["a\nb", "a\0", 5, None]),
        (Text(empty=False), ["two words"], ["", " ", "a\nb", 5]),
        (
            Each(Whole(), 2),
            [(1, 2), [1, 2], np.array([1, 2])],
            [(1,), (1, 2, 3), (1, 2.0), "12", 3, np.ones((2, 2)), None],
        ),
        (Each(Each(Number(), 2), 2), [((1, 2), (3, 4))], [((1, 2), (3,)), ((1, 2), 3)]),
        (
            Array(None, 3),
            [np.zeros((0, 3)), np.ones((2, 3), int)],
            [np.ones((3, 2)), np.full((1, 3), nan), [[1, 2, 3]], None],
        ),
        (Array(), [np.ones((2, 1, 3)), np.array(1e36)], [np.array([2e36]), np.array([1e36, -inf]), 1.0]),
        (Array(2), [np.ones(2)], [np.ones(3), np.ones((2, 1)), np.array([True, False]), np.array([1j, 1])]),
        (
            Numbers(None, 2),
            [[(1, 2)], np.ones((3, 2)), ([1, 2.5], [0, 1])],
            [[1, 2], [(1,)], [[1, 2], [3]], "12", None],
        ),
        (Numbers(), [5, [1, 2], ((1, 2), (3, 4))], [nan, [1, inf], ["1"], [True]]),
        (Device(), [select("serial")], [type(select("serial")), "cuda", None]),
        (Kind(int, str), [1, "a"], [1.0, None]),
        (OrNone(Whole()), [None, 1], [1.5]),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "check") else "",
)
def test_what_a_rule_lets_through(rule, right, wrong):
    for value in right:
        rule.check("it", value)
    for value in wrong:
        with pytest.raises(InputError, match="^it = .*: must be ") as error:
            rule.check("it", value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Number(), "a number"),
        (Number(0, unit="m"), "a number of at least 0, in m"),
        (Number(high=1), "a number of at most 1"),
        (Above(0, "Pa"), "a number above 0, in Pa"),
        (Above(0, below=1), "a number above 0 and below 1"),
        (Number(0, 0.1, open_low=True), "a number above 0 to 0.1"),
        (Whole(1, 1024), "a whole number from 1 to 1024"),
        (OneOf(["x", "y"]), "one of x, y"),
        (Each(Whole(0, 9), 3), "3 values, each a whole number from 0 to 9"),
        (OrNone(Above(0)), "a number above 0, or None"),
        (Number(0, 0.5, open_high=True), "a number from 0 and below 0.5"),
        (Numbers(), "finite numbers"),
        (Numbers(None, 2, unit="m"), "finite numbers of the shape (count, 2), in m"),
        (Array(3), "an array of finite numbers of the shape (3,)"),
        (Flag(), "True or False"),
        (Text(empty=False), "a line of text with something in it"),
        (Kind(int, type(None)), "of the kind int or None"),
        (OneOf({"b": 1}, "fastest"), "one of fastest, b"),
    ],
)
def test_what_would_be_right_in_words(rule, words):
    assert rule.wanted == words


def test_numbers_become_an_array_of_floats_unless_they_are_none():
    found = Numbers(None, 2).array("where", [(1, 2), (3, 4)])
    assert (found.tolist(), found.dtype) == ([[1, 2], [3, 4]], float)
    with pytest.raises(InputError, match=r"where = \[1, 2\]: must be finite numbers of the shape \(count, 2\)"):
        Numbers(None, 2).array("where", [1, 2])


@dataclass(frozen=True)
@checked
class Box:
    """A dataclass with rules and a check of its own."""

    side: Annotated[float, Above(0, "m")]
    cells: Annotated[int, Whole(1)] = 8

    def __post_init__(self):
        if self.side * self.cells > 100:
            raise InputError("too large")


@dataclass(frozen=True)
@checked
class Named(Box):
    """One that has more of them."""

    name: Annotated[str, Text()] = ""


@checked
def grow(box: Annotated[Box, Kind(Box)], *, times: Annotated[int, Whole(1, 9)] = 2, note=None) -> float:
    """A function with rules."""
    return box.side * times


def test_classes_and_functions_look_at_their_parameters():
    assert grow(Box(2.0)) == 4.0
    assert grow(Box(2.0), times=3, note=object()) == 6.0
    for make, line in (
        (lambda: Box(-1.0), "side = -1.0: must be a number above 0, in m"),
        (lambda: Box(1.0, 2.5), "cells = 2.5: must be a whole number from 1 to 2147483647"),
        (lambda: Box(50.0), "too large"),
        (lambda: Named(1.0, name=5), "name = 5: must be a line of text"),
        (lambda: Named("1"), "side = '1': must be a number above 0, in m"),
        (lambda: grow(3), "box = 3: must be of the kind Box"),
        (lambda: grow(Box(1.0), times=10), "times = 10: must be a whole number from 1 to 9"),
    ):
        with pytest.raises(InputError) as error:
            make()
        assert str(error.value) == line


@given(st.one_of(st.floats(), st.integers(), st.text(), st.none(), st.lists(st.floats()), st.binary(), st.booleans()))
def test_whatever_comes_is_let_through_or_refused_in_one_line(value):
    for rule in (Number(0, 1), Whole(), OneOf(["a"]), Flag(), Text(), Each(Number(), 1), Array(None), OrNone(Above(0))):
        refusals = []
        try:
            rule.check("it", value)
        except InputError as error:
            refusals = [str(error)]
        assert all("\n" not in line and len(line) < 250 for line in refusals)
        assert bool(refusals) != rule.holds(value)


SHORT = ("lbm.Cavity", "lbm.Problem", "two_fluids.Layers", "dpd.Fluid", "dpd.Walls", "sph.DamBreak", "pic.Air")


def test_a_short_form_of_the_drill_finds_every_wrong_call_refused():
    spec = importlib.util.spec_from_file_location("drill_inputs", ROOT / "tools/drill_inputs.py")
    drill = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drill)
    # set-ups compute nothing
    found = drill.drill(["lbm", "two_fluids", "dpd", "sph", "pic"], SHORT, drill.answer_here)
    assert {one.target for one in found} == set(SHORT)
    assert [one for one in found if one.kind != "refused"] == []


@pytest.mark.parametrize("rule", [Numbers(None), Array(None), Numbers()])
def test_what_lies_behind_a_mask_is_no_number(rule):
    masked = np.ma.masked_array([1.0, 2.0], mask=[True, False])
    with pytest.raises(InputError, match="it = a masked array of float64"):
        rule.check("it", masked)
    rule.check("it", masked.data)
