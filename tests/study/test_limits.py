"""What a parameter cannot be is refused before any notebook starts, by what it is known to be; known values pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm.cases import WALL_SCHEMES
from repro.lbm.model import VELOCITY_SHARE
from repro.lbm.porous.problem import WALLS
from repro.lbm.strategies import ALL
from repro.lbm.two_fluids import strategies as two_fluids
from repro.lbm.two_fluids.forces import STENCILS
from repro.papers.porous.box.lids import LIDS
from repro.parallel.timeloop import PRECISIONS
from repro.sph.kernels import KERNELS
from repro.study.notebooks import Project, catalogue, parameters

EXAMPLES = {
    "nodes": [64, 128],
    "force": [0.0, 0.1],
    "wettings": [[-0.02, 0.0], [0.03]],
    "grids": [[64], [64, 128]],
    "ratios": [[1.0, 2.0], [1.5]],
    "more": [[], [1]],
    "size": [[4.0, 4.0, 8.0], [16.0, 4.0, 8.0]],
    "bins": [[12, 16]],
    "counts": [[5, 5], [7, 8]],
    "boxes": [[[4, 4, 4]], [[6, 4, 8], [8, 8, 8]]],
    "walls": [["modified"], ["half-way", "modified"]],
    "precision": ["single"],
    "seed": [1],
    "compare": [False, True],
}

#: of these the catalogue says more than their values do
OWN = {"size": {"together": True}, "bins": {"together": True}, "seed": {"least": 0}}


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("nodes", 0, "above 0"),
        ("nodes", -3, "above 0"),
        ("force", -1.0, "at least 0"),
        ("grids", [], "a list that is not empty"),
        ("grids", [64, 0], "above 0"),
        ("grids", [64.5], "a list of whole numbers"),
        ("grids", ["x"], "a list of whole numbers"),
        ("grids", [True], "a list of whole numbers"),
        ("ratios", ["x"], "a list of numbers"),
        ("size", [4.0, 4.0], r"3 values such as \[4.0, 4.0, 8.0\]"),
        ("bins", [12], "2 values"),
        ("boxes", [[4, 4]], "a list of lists of 3 values"),
        ("boxes", [4, 4, 4], "a list of lists of 3 values"),
        ("walls", [1], "a list of texts"),
        ("walls", ["modified", ""], "a text that is not empty"),
        ("precision", "", "a text that is not empty"),
        ("seed", -1, "0 or more"),
        ("grids", [64, 64], "values that differ"),
        ("boxes", [[4, 4, 4], [4, 4, 4]], "values that differ"),
    ],
)
def test_what_is_unlike_all_that_is_known_is_refused_by_name(name, value, wanted):
    with pytest.raises(InputError, match=f"p/a: {name} = .*: must be {wanted}"):
        parameters.require_limits({name: value}, EXAMPLES, "p/a", OWN)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nodes", 10**6),
        ("force", 0),
        ("wettings", [-1]),
        ("grids", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("size", [4.0, 4.0, 4.0]),
        ("bins", [12, 12]),
        ("counts", [6, 6]),
        ("ratios", [1, 2.5]),
        ("more", []),
        ("seed", 0),
        ("walls", ["nope"]),
        ("precision", "nope"),
        ("compare", False),
        ("boxes", [[1, 2, 3], [4, 5, 6]]),
    ],
)
def test_what_a_run_can_mean_passes(name, value):
    parameters.require_limits({name: value}, EXAMPLES, "p/a", OWN)


def test_every_notebook_as_it_is_opened_and_every_profile_of_it_passes_its_own_limits():
    project = Project.default()
    for book in catalogue.load(project).notebooks:
        opened = parameters.defaults(book.source(project))
        examples = parameters.known_values(opened, book.profiles)
        for values in (opened, *book.profiles.values()):
            parameters.require_limits(values, examples, book.id, book.limits)


LIMITS = {
    "nodes": {"least": 8, "most": 256},
    "ratios": {"least": 0.5},
    "force": {"most": 1},
    "precision": {"one_of": ["single", "double"]},
    "walls": {"one_of": ["half-way", "modified"]},
    "grids": {"least": 8, "has": [64]},
    "counts": {"multiple": 10},
    "size": {"least": [2, 1, 4], "most": [1e9, 4, 8], "together": True},
    "bins": {"least": [2, 8]},
    "more": {"fewest": 2},
}


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("nodes", 7, "from 8 to 256"),
        ("nodes", 257, "from 8 to 256"),
        ("ratios", [1.0, 0.4], "0.5 or more"),
        ("force", 1.5, "at most 1"),
        ("precision", "nope", "one of 'single', 'double'"),
        ("precision", "", "one of 'single', 'double'"),
        ("walls", ["half-way", "nope"], "of 'half-way', 'modified'"),
        ("grids", [32], "a list with 64 in it"),
        ("grids", [4, 64], "8 or more"),
        ("counts", [10, 15], "a multiple of 10"),
        ("counts", [1, 20], "a multiple of 10"),
        ("size", [1.0, 4.0, 8.0], r"from \[2, 1, 4\] to \[1e\+09, 4, 8\]"),
        ("size", [4.0, 4.0, 8.5], r"from \[2, 1, 4\] to \[1e\+09, 4, 8\]"),
        ("size", [4.0, 4.0], r"3 values such as \[4.0, 4.0, 8.0\]"),
        ("bins", [8, 7], r"\[2, 8\] or more"),
        ("more", [3], "2 values at least"),
    ],
)
def test_what_lies_beyond_the_limits_of_the_catalogue_is_refused_by_name(name, value, wanted):
    with pytest.raises(InputError, match=f"p/a: {name} = .*: must be {wanted}"):
        parameters.require_limits({name: value}, EXAMPLES, "p/a", LIMITS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nodes", 8),
        ("nodes", 256),
        ("ratios", [0.5]),
        ("force", 1),
        ("precision", "double"),
        ("walls", ["modified"]),
        ("grids", [64, 8]),
        ("counts", [10, 20]),
        ("size", [1e9, 1.0, 4.0]),
        ("bins", [2, 8]),
        ("more", [3, 4]),
    ],
)
def test_what_lies_at_the_limits_passes(name, value):
    parameters.require_limits({name: value}, EXAMPLES, "p/a", LIMITS)


def test_every_name_that_a_notebook_takes_is_known_before_it_starts():
    project, open_ones = Project.default(), {"sample", "profile", "device"}
    for book in catalogue.load(project).notebooks:
        for name, examples in parameters.known_values(parameters.defaults(book.source(project)), book.profiles).items():
            leaves = [part for value in examples for part in (value if isinstance(value, list) else [value])]
            if any(isinstance(part, str) for part in leaves) and name not in open_ones:
                assert "one_of" in book.limits[name], (book.id, name)


def test_the_names_of_the_catalogue_are_those_of_the_library():
    limit = {book.id: book.limits for book in catalogue.load(Project.default()).notebooks}
    for notebook, name, library in (
        ("porous/cavity", "lid", WALL_SCHEMES),
        ("porous/cavity", "compared_lids", LIDS),
        ("porous/duct", "walls", WALL_SCHEMES),
        ("porous/duct", "forcing", VELOCITY_SHARE),
        ("porous/bcc_permeability", "other_walls", WALLS),
        ("porous/laplace", "stencils", STENCILS),
        ("porous/two_component_speed", "strategies", two_fluids.STRATEGIES),
        # the notebook runs in double precision, too, which pairs of nodes do not know
        ("swap/cavity3d", "strategy", ALL.keys() - {"paired pull"}),
        ("swap/cavity3d", "precision", PRECISIONS),
    ):
        assert set(limit[notebook][name]["one_of"]) == set(library), (notebook, name)
    # a kernel of one's own need not be a choice of the notebook
    assert set(limit["sph/still_water"]["kernel"]["one_of"]) <= set(KERNELS)


@given(st.lists(st.floats(1e-300, 1e36), min_size=1, unique=True))
def test_any_positive_numbers_are_like_positive_numbers(numbers):
    parameters.require_limits({"ratios": numbers}, EXAMPLES, "p/a", {})
