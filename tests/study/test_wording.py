"""Where the text of a published notebook alone has changed it is renewed, and what was computed stands."""

import nbformat
import pytest

from repro.errors import InputError
from repro.files import json_text, read_json
from repro.study.keep import results
from repro.study.notebooks import catalogue
from repro.study.publish import published
from repro.study.publish.publish import publish, republish_text

BOTH = "profiles = { quick = {}, paper = {} }"
OLD, NEW = "# What is known", "# What was found\n\nIn better words."


def retell(path, text: str, code: str = "") -> None:
    """Let a notebook begin with another text, and end with other code."""
    book = nbformat.read(path, as_version=4)
    book.cells = [cell for cell in book.cells if cell.cell_type == "code"]
    book.cells.insert(0, nbformat.v4.new_markdown_cell(text))
    book.cells[-1].source += code
    nbformat.write(book, path)


@pytest.fixture
def told(workshop):
    """A checkout with published results of toy/a and of score, which shows all others."""
    workshop.source("toy.py", "SIZE = 1")
    retell(workshop.add("toy/a", "import repro.toy", entry=BOTH), OLD)
    workshop.add("score", "pass", entry=f'needs = ["*"]\n{BOTH}')
    workshop.commit()
    workshop.finish("toy/a", {"toy-001": {"measured": 0.5541}}, profile="paper")
    workshop.finish("score", profile="paper", figures=())
    publish(project=workshop.project)
    workshop.commit()
    assert states(workshop) == {"toy/a": "up to date", "score": "up to date"}
    return workshop


def states(workshop) -> dict[str, str]:
    return published.states(catalogue.load(workshop.project), workshop.project)


def source(workshop):
    return workshop.project.notebooks / "toy/a.ipynb"


def rendered(workshop):
    return nbformat.read(workshop.project.notebooks / "rendered/toy/a.ipynb", as_version=4)


def measured(workshop):
    return workshop.project.data / "measured/machine/toy/a.json"


def test_new_words_are_published_without_a_run_and_no_number_changes(told):
    before = read_json(measured(told))
    retell(source(told), NEW)
    told.commit()
    assert states(told)["toy/a"] == "out of date: notebooks/toy/a.ipynb changed"
    # what shows the others' results depends on them
    assert republish_text(told.project) == ["toy/a", "score"]
    assert states(told) == {"toy/a": "up to date", "score": "up to date"}
    assert published.edited(catalogue.load(told.project), told.project) == []
    assert rendered(told).cells[0].source == NEW
    after = read_json(measured(told))
    assert after["run"].pop("text") == told.git("rev-parse", "HEAD")
    for result in (before, after):
        del result["run"]["depends"]["files"]["notebooks/toy/a.ipynb"], result[results.SEAL], result[results.FILES]
    assert after == before


def test_what_is_up_to_date_is_left_alone(told):
    before = measured(told).read_bytes()
    assert republish_text(told.project) == []
    assert measured(told).read_bytes() == before


@pytest.mark.parametrize("change", ["code", "import", "parameters", "data"])
def test_words_are_not_renewed_where_a_run_could_come_out_otherwise(told, change):
    retell(source(told), NEW, code="\nvalue = 2" if change == "code" else "")
    if change == "import":
        told.source("toy.py", "SIZE = 2")
    if change == "parameters":
        told.catalogue.write_text(told.catalogue.read_text().replace("paper = {}", "paper = { value = 2.0 }", 1))
    if change == "data":
        (told.project.data / "published/toy_figures.csv").write_text("x,y\n")
        told.catalogue.write_text(told.catalogue.read_text().replace(BOTH, f'data = ["published/*.csv"]\n{BOTH}', 1))
    told.commit()
    before = measured(told).read_bytes()
    assert republish_text(told.project) == []
    assert measured(told).read_bytes() == before
    assert rendered(told).cells[0].source == OLD
    assert states(told)["toy/a"].startswith("out of date: ")


def test_words_are_not_renewed_where_a_result_is_gone_nor_those_of_what_has_none(told, tmp_path):
    again = {"profile": "paper", "folder": tmp_path / "second", "machine": "faster"}
    told.finish("toy/a", {"toy-001": {"measured": 0.9}}, **again)
    publish(tmp_path / "second", project=told.project, beside=True)
    (told.project.data / "measured/faster/toy/a.json").unlink()
    retell(source(told), NEW)
    told.add("toy/new", "pass", entry=BOTH)
    told.commit()
    before = measured(told).read_bytes()
    assert republish_text(told.project) == []
    assert measured(told).read_bytes() == before
    assert rendered(told).cells[0].source == OLD


def test_the_seal_must_vouch_for_the_code_that_ran(told):
    executed = told.project.notebooks / "rendered/toy/a.ipynb"
    executed.write_text(executed.read_text().replace("import repro.toy", "import repro.toy as toy"))
    retell(source(told), NEW)
    told.commit()
    assert republish_text(told.project) == []
    assert states(told)["toy/a"] == "toy/a.ipynb is not what the run made"


def test_the_cell_that_sets_the_parameters_stays_behind_theirs_and_cells_keep_what_they_showed(told):
    """Links of the text lead on from where the notebook is published."""
    book, executed = rendered(told), told.project.notebooks / "rendered/toy/a.ipynb"
    for cell, shown in zip(book.cells[1:], ("0.55", "much"), strict=True):
        cell.outputs = [nbformat.v4.new_output("stream", text=shown)]
    book.cells.insert(2, nbformat.v4.new_code_cell("value = 2.0", metadata={"tags": ["injected-parameters"]}))
    nbformat.write(book, executed)
    sidecar = read_json(measured(told))
    files = {"toy/a.ipynb": executed, "figures/toy-a-a.png": told.project.root / "figures/toy-a-a.png"}
    measured(told).write_text(json_text(results.sealed(sidecar, files)))
    retell(source(told), f"{NEW} [How](../../docs/protocol.md)")
    told.commit()
    assert "toy/a" in republish_text(told.project)
    text, *code = rendered(told).cells
    assert text.source == f"{NEW} [How](../../../docs/protocol.md)"
    assert [cell.source for cell in code] == ["value = 0.5541", "value = 2.0", "import repro.toy"]
    assert [[output.text for output in cell.outputs] for cell in code] == [["0.55"], [], ["much"]]


def test_changes_that_are_not_committed_are_refused(told):
    retell(source(told), NEW)
    with pytest.raises(InputError, match="not committed: nothing is published"):
        republish_text(told.project)
