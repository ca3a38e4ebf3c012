import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.parallel.errors import InputError
from repro.study import parameters

CELL = 'nodes: int = 64\nreynolds = 400.0\nscheme = "guo"\nfast = True\ngrids = [1, 2]\nfree = None'
KNOWN = {"nodes": 64, "reynolds": 400.0, "scheme": "guo", "fast": True, "grids": [1, 2], "free": None}


def test_defaults_are_the_literals_of_the_parameters_cell(workshop):
    assert parameters.defaults(workshop.write("a", "pass", CELL)) == KNOWN


def test_parameters_cell_with_an_expression_is_refused(workshop):
    with pytest.raises(InputError, match="'n' is not a literal"):
        parameters.defaults(workshop.write("a", "pass", "n = 2 * 3 + f()"))


def test_broken_notebook_or_parameters_cell_is_named(workshop):
    file = workshop.write("a", "pass", "n = (1\n")
    with pytest.raises(InputError, match=r"a\.ipynb, parameters cell, line 1: "):
        parameters.defaults(file)
    for text in ('"x"', "[]", '{"cells": [1]}', '{"cells": [{"cell_type": "code"}]}', "{"):
        file.write_text(text)
        with pytest.raises(InputError, match=r"a\.ipynb is not a notebook"):
            parameters.defaults(file)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nodes=128", 128),
        ("reynolds=1000", 1000.0),
        ("reynolds=1e3", 1000.0),
        ("scheme=zou = he", "zou = he"),
        ("fast=false", False),
        ("fast=True", True),
        ("grids=[3]", [3]),
        ("free=word", "word"),
    ],
)
def test_values_get_the_type_of_the_default(text, value):
    (result,) = parameters.overrides([text], {"a/b": KNOWN})["a/b"].values()
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes=big", "must be a whole number .*not 'big'"),
        ("nodes=1.5", "must be a whole number"),
        ("nodes=True", "must be a whole number"),
        ("reynolds=fast", "must be a number"),
        ("reynolds=1e999", "must be a number"),
        ("fast=1", "must be true or false"),
        ("grids=3", r"must be a list such as \[1, 2\]"),
        ("node=3", "unknown parameter 'node': did you mean nodes"),
        ("nodes", "name=value"),
        ("=3", "name=value"),
        ("duct:nodes=3", "no such notebook runs"),
    ],
)
def test_wrong_parameter_says_what_would_be_right(text, message):
    with pytest.raises(InputError, match=message):
        parameters.overrides([text], {"porous/cavity": KNOWN})


def test_parameter_without_id_goes_to_all_that_have_it_and_with_id_to_one():
    known = {"p/a": {"n": 1}, "p/b": {"n": 1}, "p/c": {}}
    assert parameters.overrides(["n=2"], known) == {"p/a": {"n": 2}, "p/b": {"n": 2}, "p/c": {}}
    assert parameters.overrides(["a:n=2"], known) == {"p/a": {"n": 2}, "p/b": {}, "p/c": {}}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_finite_number_passes_unchanged(number):
    assert parameters.overrides([f"x={number!r}"], {"a": {"x": 0.0}}) == {"a": {"x": number}}
