import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.study.notebooks import parameters
from repro.study.run.plan import make_plan

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
        (f"reynolds=1{'0' * 400}", "must be a number"),
        ("grids=[1e999]", "of finite numbers"),
        ("grids=[[1, {2: 1e999}]]", "of finite numbers"),
        ("grids={[]: 1}", r"must be a list such as \[1, 2\]"),
        (f"nodes=0x{'f' * 5000}", "must be a whole number .default 64., not .0xfff"),
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


@pytest.mark.parametrize("texts", [["n=2", "a:n=3"], ["a:n=3", "n=2"], ["n=2", "p/a:n=3", "n=2", "a:n=3"]])
def test_what_is_given_for_one_notebook_holds_there_in_any_order(texts):
    assert parameters.overrides(texts, {"p/a": {"n": 1}, "p/b": {"n": 1}}) == {"p/a": {"n": 3}, "p/b": {"n": 2}}


@pytest.mark.parametrize("texts", [["n=2", "n=3"], ["a:n=2", "p/a:n=3"]])
def test_two_values_for_a_parameter_are_refused(texts):
    with pytest.raises(InputError, match="^p/a: parameter 'n' is given twice, as 2 and 3: give it once$"):
        parameters.overrides(texts, {"p/a": {"n": 1}})


def test_parameter_without_id_goes_to_all_that_have_it_and_with_id_to_one():
    known = {"p/a": {"n": 1}, "p/b": {"n": 1}, "p/c": {}}
    assert parameters.overrides(["n=2"], known) == {"p/a": {"n": 2}, "p/b": {"n": 2}, "p/c": {}}
    assert parameters.overrides(["a:n=2"], known) == {"p/a": {"n": 2}, "p/b": {}, "p/c": {}}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_finite_number_passes_unchanged(number):
    assert parameters.overrides([f"x={number!r}"], {"a": {"x": 0.0}}) == {"a": {"x": number}}


@pytest.mark.parametrize(
    ("changed", "end"),
    [
        ({}, ""),
        ({"p/a": {"re": 1000.0}}, ",re=1000"),
        ({"p/a": {"re": 1e-7, "n": 2}, "p/b": {"n": 2}}, ",n=2,re=1e-07"),
        ({"p/a": {"n": 2}}, ",p-a.n=2"),
        ({"p/a": {"n": 2}, "p/b": {"n": 3}}, ",p-a.n=2,p-b.n=3"),
        ({"p/a": {"word": "zou-he"}}, ",word=zou-he"),
    ],
)
def test_suffix_names_the_changed_parameters(changed, end):
    settings = {"p/a": {"re": 400.0, "n": 1, "word": "guo"}, "p/b": {"n": 1}}
    settings = {i: values | changed.get(i, {}) for i, values in settings.items()}
    assert parameters.suffix(changed, settings) == end


@given(st.lists(st.text() | st.lists(st.integers()) | st.floats(allow_nan=False), min_size=2, max_size=2))
def test_suffix_is_a_short_file_name_of_its_own(values):
    first, second = (parameters.suffix({"a": {"x": v}}, {"a": {"x": v}}) for v in values)
    assert len(first) < 100
    assert set(first) <= set(string.ascii_letters + string.digits + ",.=_+-")
    assert (first == second) == (parameters.show({"x": values[0]}) == parameters.show({"x": values[1]}))


def test_changed_parameters_have_a_folder_of_their_own(workshop):
    workshop.add("toy/a", "pass", "n = 1\nre = 400.0", "profiles = { quick = { n = 8 } }")
    workshop.add("toy/b", "pass", "n = 2")

    def folder(*texts) -> str:
        plan = make_plan(None, profile="quick", device="serial", overrides=texts, project=workshop.project)
        return plan.output.parent.name

    assert folder() == "quick"
    assert folder("re=400", "a:n=8", "b:n=2") == "quick"
    assert folder("re=1000", "n=3") == folder("n=3", "toy/a:re=1e3") == "quick,n=3,re=1000"
    assert folder("a:n=3") == "quick,toy-a.n=3"
