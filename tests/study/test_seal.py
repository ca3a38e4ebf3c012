"""Whatever is changed in a result after its run is found, down to a byte."""

import pytest
from helpers.workshop import GOOD, Workshop
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.files import read_json, write_json
from repro.study.keep import results

JSON, NOTEBOOK, FIGURE = "toy/good.json", "toy/good.ipynb", "figures/toy-good-a.png"
CLAIMS = {"toy-001": {"measured": 0.5541}, "toy-002": {"measured": None, "not_measured": "no GPU"}}


@pytest.fixture
def folder(good):
    """A run folder with a whole result of toy/good."""
    good.finish("toy/good", CLAIMS)
    return good.folder()


def flaws(folder) -> list[str]:
    return results.seal_flaws(folder / JSON, lambda name: folder / name)


def test_result_as_the_run_left_it_is_without_flaw(folder):
    assert flaws(folder) == []
    assert results.look(folder, "toy/good").trouble == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.5541", "0.5542"),
        ("0.5541", "5.541e-1"),
        ('"no GPU"', '"no GPU "'),
        ('"toy-002"', '"toy-003"'),
        ('"commit": "0123abc"', '"commit": "0123abd"'),
        ('"dirty": false', '"dirty": true'),
        ('"void": []', '"void": [""]'),
        ('"started": 1.0', '"started": 1'),
        ('"profile": "quick"', '"profile": "paper"'),
        # what reads the same is not the same
        ("\n", "\n\n"),
        (": ", ":"),
        (" ", "\t"),
        ("\n", "\r\n"),
        ("\n", "\r"),
        ("toy-001", "toy\\u002d001"),
        ("{", '{"timings": [],'),
    ],
)
def test_any_edit_of_the_json_is_named_and_the_result_is_none(folder, old, new):
    text = (folder / JSON).read_text()
    assert old in text
    (folder / JSON).write_text(text.replace(old, new, 1), newline="")
    assert flaws(folder) == ["good.json was edited after the run"]
    found = results.look(folder, "toy/good")
    assert found.sidecar is None
    assert "good.json" in found.trouble


@pytest.mark.parametrize("ending", ["\n", " ", "\r"])
def test_what_is_added_at_the_end_of_the_json_is_an_edit(folder, ending):
    with open(folder / JSON, "a", newline="") as file:
        file.write(ending)
    assert flaws(folder) == ["good.json was edited after the run"]


@pytest.mark.parametrize("own", ["", None, "0" * 64, 1])
def test_result_without_its_own_seal_is_edited(folder, own):
    content = read_json(folder / JSON) | {"seal": own}
    write_json(folder / JSON, content)
    assert flaws(folder) == ["good.json was edited after the run"]
    del content["seal"]
    write_json(folder / JSON, content)
    assert flaws(folder) == ["good.json was edited after the run"]


def test_number_that_json_does_not_know_is_an_edit_even_without_a_seal(folder):
    text = (folder / JSON).read_text().replace('"started": 1.0', '"started": NaN')
    (folder / JSON).write_text(text[: text.index('"seal"')] + '"seal": ""\n}\n')
    assert flaws(folder) == ["good.json was edited after the run"]


@pytest.mark.parametrize("name", [NOTEBOOK, FIGURE])
def test_edited_file_is_named(folder, name):
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    assert flaws(folder) == [f"{name} is not what the run made"]


@pytest.mark.parametrize("name", [NOTEBOOK, FIGURE])
def test_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert flaws(folder) == [f"{name} is missing"]


def test_every_flaw_is_named(folder):
    (folder / NOTEBOOK).unlink()
    (folder / FIGURE).write_bytes(b"")
    assert flaws(folder) == [f"{NOTEBOOK} is missing", f"{FIGURE} is not what the run made"]
    assert results.look(folder, "toy/good").trouble == f"{NOTEBOOK} is missing, and 1 more"


def test_figures_exchanged_for_each_other_are_named(good):
    good.finish("toy/good", CLAIMS, figures=("a", "b"))
    first, second = (good.folder() / f"figures/toy-good-{figure}.png" for figure in "ab")
    content = first.read_bytes(), second.read_bytes()
    first.write_bytes(content[1])
    second.write_bytes(content[0])
    assert len(flaws(good.folder())) == 2


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run folder that is whole again after each example."""
    workshop = Workshop(tmp_path_factory.mktemp("project"))
    workshop.add("toy/good", GOOD)
    workshop.finish("toy/good", CLAIMS)
    return workshop.folder()


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([JSON, NOTEBOOK, FIGURE]), st.integers(0), st.integers(1, 255))
def test_flipping_bits_of_any_byte_of_any_file_is_found(whole, name, place, bits):
    path = whole / name
    before = path.read_bytes()
    changed = bytearray(before)
    changed[place % len(before)] ^= bits
    path.write_bytes(changed)
    try:
        (flaw,) = flaws(whole)
        assert flaw.startswith(path.name if name == JSON else name)
        assert results.look(whole, "toy/good").trouble
    finally:
        path.write_bytes(before)


def test_flipping_any_one_line_end_of_the_json_is_found(whole):
    path = whole / JSON
    before = path.read_bytes()
    for place in [i for i, byte in enumerate(before) if byte == ord("\n")]:
        path.write_bytes(before[:place] + b"\r" + before[place + 1 :])
        assert flaws(whole)
    path.write_bytes(before)
