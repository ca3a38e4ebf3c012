"""Published is what a run made from a clean tree at the papers' sizes, whole and untouched."""

import os
import re
import shutil

import pytest
from helpers.workshop import forge

from repro.errors import InputError
from repro.files import read_json, write_json
from repro.study.keep import results
from repro.study.notebooks import catalogue
from repro.study.publish import publish, published
from repro.study.publish.publish import publish as copy

CLAIMS = {"toy-001": {"measured": 0.5541}}
BOTH = "profiles = { quick = {}, paper = { value = 2.0 }, beyond = {} }"
NAMES = {
    "notebooks/rendered/toy/a.ipynb",
    "figures/toy-a-a.png",
    "data/measured/machine/toy/a.json",
}
LIST = "data/measured/published.json"


@pytest.fixture
def paper(workshop):
    """A clean checkout with the notebooks toy/a and toy/b, and a whole run of the profile paper."""
    workshop.source("toy.py", "SIZE = 1")
    for name in ("toy/a", "toy/b"):
        workshop.add(name, "import repro.toy", entry=BOTH)
    workshop.commit()
    workshop.finish("toy/a", CLAIMS, profile="paper")
    workshop.finish("toy/b", profile="paper")
    return workshop


def books(workshop):
    return catalogue.load(workshop.project)


def there(workshop) -> set[str]:
    """Names of all published files."""
    root = workshop.project.root
    places = (root / "figures", root / "data/measured", root / "notebooks/rendered")
    return {f.relative_to(root).as_posix() for place in places for f in place.rglob("*") if f.is_file()}


def assert_refused(workshop, message: str, folder=None, **more) -> None:
    """Publishing is refused for this reason, and nothing was published."""
    before = there(workshop)
    with pytest.raises(InputError, match=message):
        copy(folder or workshop.folder("paper"), project=workshop.project, **more)
    assert there(workshop) == before


def test_notebooks_figures_and_measurements_are_copied(paper):
    made = {file.relative_to(paper.project.root).as_posix() for file in copy(project=paper.project)}
    other = {name.replace("toy/a", "toy/b").replace("-a-", "-b-") for name in NAMES}
    assert made == there(paper) - {LIST} == NAMES | other
    assert LIST in there(paper)


def test_what_was_published_is_up_to_date_and_unedited(paper):
    copy(project=paper.project)
    assert published.edited(books(paper), paper.project) == []
    assert published.states(books(paper), paper.project) == {"toy/a": "up to date", "toy/b": "up to date"}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_flipping_any_byte_of_a_published_file_is_named(paper, name):
    copy(project=paper.project)
    path = paper.project.root / name
    before = path.read_bytes()
    for place in {0, len(before) // 2, len(before) - 1}:
        path.write_bytes(before[:place] + bytes([before[place] ^ 7]) + before[place + 1 :])
        (line,) = published.edited(books(paper), paper.project)
        assert line.startswith("toy/a: ")
        assert path.stem in line
        assert published.states(books(paper), paper.project)["toy/b"] == "up to date"
    path.write_bytes(before)
    assert published.edited(books(paper), paper.project) == []


@pytest.mark.parametrize("name", ["notebooks/rendered/toy/a.ipynb", "figures/toy-a-a.png"])
def test_published_file_that_is_missing_is_named(paper, name):
    copy(project=paper.project)
    (paper.project.root / name).unlink()
    (line,) = published.edited(books(paper), paper.project)
    assert line.endswith("is missing")


def test_published_result_that_is_missing_is_named(paper):
    copy(project=paper.project)
    (paper.project.data / "measured/machine/toy/a.json").unlink()
    assert published.states(books(paper), paper.project)["toy/b"] == "up to date"
    (why,) = published.missing(books(paper).notebooks[0], paper.project)
    assert published.states(books(paper), paper.project)["toy/a"] == why


@pytest.mark.parametrize("gone", ["machine", "faster"], ids=["shown", "beside"])
def test_of_two_machines_the_one_whose_result_is_gone_is_named_and_nothing_else(paper, second, gone):
    copy(second, project=paper.project, beside=True)
    (paper.project.data / f"measured/{gone}/toy/a.json").unlink()
    why = f"data/measured/{gone}/toy/a.json is missing: restore it, or take it out of published.json"
    assert published.edited(books(paper), paper.project) == [f"toy/a: {why}"]
    assert published.states(books(paper), paper.project) == {"toy/a": why, "toy/b": "up to date"}
    assert published.results_shown(books(paper), paper.project)["toy/a"].trouble == why
    assert publish.republish_text(paper.project) == []


def test_a_list_of_what_is_published_that_is_gone_is_named(paper):
    copy(project=paper.project)
    (paper.project.root / LIST).unlink()
    (line,) = published.edited(books(paper), paper.project)
    assert line.startswith("published.json: it is missing or damaged")


def test_published_result_below_the_name_of_another_machine_is_named(paper):
    copy(project=paper.project)
    measured = paper.project.data / "measured"
    (measured / "machine").rename(measured / "faster")
    assert "toy/a: a.json is of another machine, machine" in published.edited(books(paper), paper.project)


def test_result_stands_only_if_those_of_all_machines_do(paper):
    copy(project=paper.project)
    measured = paper.project.data / "measured"
    shutil.copytree(measured / "machine/toy", measured / "slower/toy")
    assert published.states(books(paper), paper.project)["toy/a"] == "a.json is of another machine, machine"


def test_published_result_that_the_sources_have_outgrown_says_what_changed(paper):
    copy(project=paper.project)
    paper.source("toy.py", "SIZE = 2")
    assert published.states(books(paper), paper.project)["toy/a"] == "out of date: repro/toy.py changed"
    assert published.edited(books(paper), paper.project) == []


def test_failed_notebook_is_refused(paper):
    paper.fail("toy/a", paper.folder("paper"), profile="paper")
    assert_refused(paper, "toy/a failed in machine: nothing is published")


def test_failed_notebook_is_refused_though_an_earlier_result_of_it_is_published(paper, tmp_path):
    copy(project=paper.project)
    paper.finish("toy/b", profile="paper", folder=tmp_path / "second")
    paper.fail("toy/a", tmp_path / "second", profile="paper")
    assert_refused(paper, "toy/a failed in second: nothing is published", tmp_path / "second")


@pytest.mark.parametrize("name", ["toy/a.ipynb", "figures/toy-a-a.png"])
def test_unfinished_notebook_is_refused(paper, name):
    (paper.folder("paper") / name).unlink()
    assert_refused(paper, rf"toy/a is not finished in machine \({name} is missing\): nothing is published")


@pytest.mark.parametrize("name", ["toy/a.json", "toy/a.ipynb", "figures/toy-a-a.png"])
def test_edited_file_is_refused(paper, name):
    path = paper.folder("paper") / name
    path.write_bytes(path.read_bytes() + b" ")
    assert_refused(paper, rf"toy/a is not finished in machine \({re.escape(name.removeprefix('toy/a.json'))}")


def test_result_that_is_not_valid_is_refused(paper):
    paper.finish("toy/a", CLAIMS, profile="paper", void=("toy-001: the run did not converge",))
    assert_refused(paper, r"toy/a is not valid \(toy-001: the run did not converge\): nothing is published")


@pytest.mark.parametrize("holds", [True, False])
def test_a_sentence_that_does_not_hold_is_refused_and_named(paper, holds):
    said = [{"text": "Both agree.", "holds": True}, {"text": "Walls lie within 2.3 %.", "holds": holds}]
    forge(paper.folder("paper") / "toy/a.json", sentences=said)
    if holds:
        assert copy(project=paper.project)
    else:
        message = r"toy/a says what its run does not show \('Walls lie within 2.3 %.'\): nothing is published"
        assert_refused(paper, message)


def test_changed_parameters_are_refused(paper):
    paper.finish("toy/a", CLAIMS, profile="paper", folder=paper.folder("paper"), changed=("a:value=3",))
    assert_refused(paper, "toy/a ran with value=3, not as its profile says")


def test_parameters_other_than_the_catalogue_has_now_are_refused(paper):
    paper.catalogue.write_text(paper.catalogue.read_text().replace("value = 2.0", "value = 3.0"))
    paper.commit()
    assert_refused(paper, r"toy/a is out of date, value was 2.0 and is 3.0")


@pytest.mark.parametrize("file", ["repro/toy.py", "notebooks/toy/a.ipynb"])
def test_out_of_date_sources_are_refused(paper, file):
    if file.endswith(".py"):
        paper.source("toy.py", "SIZE = 2")
    else:
        paper.write("toy/a", "import repro.toy\nmore = 1")
    paper.commit()
    assert_refused(paper, f"toy/a is out of date, {file} changed: nothing is published")


@pytest.mark.parametrize("made", [{"commit": "0123abc", "dirty": True}, {"commit": "0123abc"}, {"dirty": False}, {}])
def test_result_made_from_a_tree_with_changes_or_without_a_commit_is_refused(paper, made):
    paper.finish("toy/a", CLAIMS, profile="paper", made=made)
    assert_refused(paper, "toy/a was made from a tree with changes or without a commit")


@pytest.mark.parametrize("file", ["repro/more.py", "notebooks/catalogue.toml", "data/published/toy.csv"])
def test_dirty_checkout_is_refused(paper, file):
    with open(paper.project.root / file, "a") as content:
        content.write("\n")
    assert_refused(paper, "the checkout has changes that are not committed: nothing is published")


def test_checkout_without_git_and_manifest_is_refused(paper):
    shutil.rmtree(paper.project.root / ".git")
    assert_refused(paper, "the checkout has neither git nor a manifest: nothing is published")


def test_small_profile_is_refused_before_looking_for_a_run(good):
    with pytest.raises(InputError, match="profile quick: only runs of the profile paper or beyond"):
        copy(profile="quick", project=good.project)


def test_run_of_a_small_profile_is_refused(paper):
    for name in ("toy/a", "toy/b"):
        paper.finish(name, profile="quick")
    assert_refused(paper, "holds the profile quick: only runs of the profile paper or beyond", paper.folder("quick"))


def test_run_that_mixes_profiles_is_refused(paper):
    paper.finish("toy/a", profile="beyond", folder=paper.folder("paper"))
    assert_refused(paper, "mixes the profiles beyond, paper: nothing is published")


def test_folder_that_lacks_a_notebook_is_refused(paper):
    for ending in ("json", "ipynb"):
        (paper.folder("paper") / f"toy/b.{ending}").unlink()
    assert_refused(paper, "toy/b is not in machine, and of what is published it is missing: nothing is published")


def test_folder_that_lacks_a_notebook_is_added_to_what_is_published(paper, tmp_path):
    copy(project=paper.project)
    # its notebook has changed since, and was run again elsewhere, alone
    paper.write("toy/b", "import repro.toy\nmore = 1")
    paper.commit()
    assert published.states(books(paper), paper.project)["toy/b"] != "up to date"
    paper.finish("toy/b", profile="paper", folder=tmp_path / "second")
    copy(tmp_path / "second", project=paper.project)
    assert published.edited(books(paper), paper.project) == []
    assert published.states(books(paper), paper.project) == {"toy/a": "up to date", "toy/b": "up to date"}


def test_two_profiles_are_published_one_after_the_other(paper, tmp_path):
    paper.add("toy/c", "pass", entry="profiles = { beyond = {} }")
    paper.commit()
    copy(project=paper.project)
    paper.finish("toy/c", profile="beyond", folder=tmp_path / "beyond")
    copy(tmp_path / "beyond", project=paper.project)
    assert set(published.states(books(paper), paper.project).values()) == {"up to date"}


@pytest.mark.parametrize("damage", ["edited", "outdated"])
def test_folder_is_not_added_to_what_is_published_but_cannot_stand(paper, tmp_path, damage):
    copy(project=paper.project)
    if damage == "edited":
        (paper.project.root / "figures/toy-a-a.png").write_bytes(b"")
    else:
        paper.write("toy/a", "import repro.toy\nmore = 1")
    paper.commit()
    paper.finish("toy/b", profile="paper", folder=tmp_path / "second")
    why = {"edited": "figures/toy-a-a.png is not what", "outdated": "out of date: notebooks/toy/a.ipynb changed"}
    assert_refused(paper, f"toy/a is not in second, and of what is published {why[damage]}", tmp_path / "second")


@pytest.mark.parametrize("fits", [True, False])
def test_what_another_machine_measured_stays_while_it_fits_and_its_figures_do_not(paper, tmp_path, fits):
    copy(project=paper.project)
    if not fits:
        paper.write("toy/a", "import repro.toy\nmore = 1")
        paper.commit()
    paper.finish("toy/a", CLAIMS, profile="paper", folder=tmp_path / "second", figures=("b",), machine="faster")
    copy(tmp_path / "second", project=paper.project)
    assert {name for name in there(paper) if "toy/a" in name or "toy-a" in name} == {
        "notebooks/rendered/toy/a.ipynb",
        "figures/toy-a-b.png",
        "data/measured/faster/toy/a.json",
        *(["data/measured/machine/toy/a.json"] if fits else []),
    }
    assert published.shown(books(paper).notebooks[0], paper.project).parts[-3] == "faster"
    assert published.edited(books(paper), paper.project) == []


def test_what_another_machine_measured_and_somebody_edited_does_not_stay(paper, tmp_path):
    copy(project=paper.project)
    path = paper.project.data / "measured/machine/toy/a.json"
    path.write_bytes(path.read_bytes().replace(b"0.5541", b"0.9999"))
    paper.finish("toy/a", CLAIMS, profile="paper", folder=tmp_path / "second", machine="faster")
    copy(tmp_path / "second", project=paper.project)
    assert not path.exists()
    assert published.edited(books(paper), paper.project) == []
    assert published.states(books(paper), paper.project) == {"toy/a": "up to date", "toy/b": "up to date"}


def test_a_run_elsewhere_is_published_where_nothing_was_run(paper, tmp_path):
    shutil.move(paper.folder("paper"), tmp_path / "elsewhere")
    shutil.rmtree(paper.project.build)
    assert len(copy(tmp_path / "elsewhere", project=paper.project)) == 2 * len(NAMES)


def test_where_nothing_can_be_written_nothing_is_published(paper):
    (paper.project.root / "figures").write_text("a file")
    before = there(paper)
    with pytest.raises(InputError, match="figures: .*; publish writes into the checkout"):
        copy(project=paper.project)
    assert there(paper) == before


def test_file_of_the_checkout_is_replaced_by_no_result(paper):
    path = paper.folder("paper") / "toy/a.json"
    content = read_json(path)
    content["files"]["repro/toy.py"] = "0"
    (path.parents[1] / "repro").mkdir()
    (path.parents[1] / "repro/toy.py").write_text("SIZE = 3")
    forge(path, files=content["files"])
    assert_refused(paper, "toy/a is not finished")
    assert (paper.project.root / "repro/toy.py").read_text() == "SIZE = 1"


def test_file_of_the_checkout_is_removed_in_the_name_of_no_damaged_result(paper):
    copy(project=paper.project)
    path = paper.project.data / "measured/machine/toy/a.json"
    write_json(path, read_json(path) | {"figures": {"a": {"files": ["repro/toy.py"]}}})
    copy(project=paper.project)
    assert (paper.project.root / "repro/toy.py").exists()
    assert published.edited(books(paper), paper.project) == []


def test_copy_that_breaks_off_changes_nothing(paper, monkeypatch):
    copy(project=paper.project)
    before = {name: (paper.project.root / name).read_bytes() for name in there(paper)}
    paper.write("toy/a", "import repro.toy\nmore = 1")
    paper.commit()
    paper.finish("toy/a", {"toy-001": {"measured": 0.9}}, profile="paper")
    copied = []

    def breaks(_, target):
        copied.append(target)
        target.write_bytes(b"half")
        if len(copied) == 2:
            raise OSError("disk full")

    monkeypatch.setattr(publish.shutil, "copyfile", breaks)
    with pytest.raises(OSError, match="disk full"):
        copy(project=paper.project)
    assert {name: (paper.project.root / name).read_bytes() for name in there(paper)} == before
    assert published.edited(books(paper), paper.project) == []
    assert not list(paper.project.build.glob("publishing-*"))


def test_a_result_is_published_after_the_files_that_it_seals(paper, monkeypatch):
    """What is interrupted in between then keeps the seal of before, which names what was replaced."""
    moved, move = [], publish.shutil.move

    def noted(source, target):
        moved.append(target.name)
        move(source, target)

    monkeypatch.setattr(publish.shutil, "move", noted)
    copy(project=paper.project)
    own = [name for name in moved if name in ("a.ipynb", "toy-a-a.png", "a.json")]
    assert len(own) == 3
    assert own[-1] == "a.json"


@pytest.mark.parametrize("machine", ["machine", "laptop"])
def test_published_scoreboard_is_out_of_date_once_a_result_that_it_shows_is_replaced(paper, tmp_path, machine):
    paper.add("score", "pass", entry='needs = ["*"]\nprofiles = { paper = {} }')
    paper.commit()
    for name in ("toy/a", "toy/b"):
        paper.finish(name, profile="paper")
    # it may run where the others did not
    paper.finish("score", profile="paper", machine=machine)
    copy(project=paper.project)
    assert set(published.states(books(paper), paper.project).values()) == {"up to date"}
    paper.finish("toy/b", {"toy-003": {"measured": 0.1}}, profile="paper", folder=tmp_path / "second")
    copy(tmp_path / "second", project=paper.project)
    states = published.states(books(paper), paper.project)
    assert states == dict.fromkeys(("toy/a", "toy/b"), "up to date") | {
        "score": "out of date: results/toy/b.json changed"
    }


def test_a_published_result_without_a_seal_is_named(paper):
    copy(project=paper.project)
    path = paper.project.data / "measured/machine/toy/a.json"
    write_json(path, {key: value for key, value in read_json(path).items() if key != "seal"})
    assert published.edited(books(paper), paper.project) == ["toy/a: a.json was edited after the run"]


@pytest.mark.parametrize("endless", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "link"])
def test_what_has_no_end_in_the_place_of_a_published_result_is_named(paper, endless):
    paper.add("score", "pass", entry='needs = ["*"]\nprofiles = { paper = {} }')
    paper.commit()
    for name in ("toy/a", "toy/b", "score"):
        paper.finish(name, profile="paper")
    copy(project=paper.project)
    path = paper.project.data / "measured/machine/toy/a.json"
    path.unlink()
    endless(path)
    states = published.states(books(paper), paper.project)
    assert states["toy/a"].startswith("a.json is damaged")
    assert states["score"] == "out of date: results/toy/a.json changed"
    assert [line[:22] for line in published.edited(books(paper), paper.project)] == ["toy/a: a.json is damag"]


@pytest.fixture
def second(paper, tmp_path):
    """What is published of one machine, and the folder of a run of toy/a on another one."""
    copy(project=paper.project)
    folder = tmp_path / "second"
    paper.finish("toy/a", {"toy-001": {"measured": 0.9}}, profile="paper", folder=folder, machine="faster")
    return folder


def test_measurements_of_a_second_machine_stand_beside_those_of_the_first(paper, second):
    before = there(paper)
    copy(second, project=paper.project, beside=True)
    assert there(paper) - before == {"data/measured/faster/toy/a.json"}
    assert published.edited(books(paper), paper.project) == []
    assert published.states(books(paper), paper.project)["toy/a"] == "up to date"


def test_what_shows_the_others_results_stands_beside_nothing(paper, tmp_path):
    """A second machine's scoreboard tells of that machine alone: its measurements are copied, and the first's stays."""
    paper.add("score", "pass", entry='needs = ["*"]\nprofiles = { paper = {} }')
    paper.commit()
    folder = tmp_path / "second"
    for where in (None, folder):
        machine = {} if where is None else {"machine": "faster"}
        for name in ("toy/a", "toy/b", "score"):
            paper.finish(name, profile="paper", folder=where, **machine)
        copied = copy(where, project=paper.project, beside=where is not None)
    assert [file.parent.name + "/" + file.name for file in copied] == ["toy/a.json", "toy/b.json"]
    assert {file.parents[1].name for file in copied} == {"faster"}


def test_an_edited_measurement_that_stands_beside_is_named(paper, second):
    copy(second, project=paper.project, beside=True)
    path = paper.project.data / "measured/faster/toy/a.json"
    path.write_text(path.read_text().replace("0.9", "0.5"))
    assert published.edited(books(paper), paper.project) == ["toy/a: a.json was edited after the run"]


@pytest.mark.parametrize("broken", [b"{", None], ids=["damaged", "edited"])
@pytest.mark.parametrize("machine", ["machine", "laptop"])
def test_of_two_machines_with_the_same_figures_one_edit_is_told_of_one(paper, tmp_path, machine, broken):
    copy(project=paper.project)
    # its notebook was executed anew, its figures are the same
    paper.write("toy/a", "pass  # again")
    paper.commit()
    paper.finish("toy/a", CLAIMS, profile="paper", folder=tmp_path / "second", machine="laptop")
    copy(tmp_path / "second", project=paper.project, beside=True)
    (book,) = (book for book in books(paper).notebooks if book.id == "toy/a")
    path = paper.project.data / f"measured/{machine}/toy/a.json"
    path.write_bytes(broken or path.read_bytes().replace(b"0.5541", b"0.9999"))
    assert len(published.edited(books(paper), paper.project)) == 1
    assert published.shown(book, paper.project).parts[-3] == "machine"


def test_nothing_stands_beside_what_is_not_there(workshop, tmp_path):
    workshop.add("toy/a", "pass", entry=BOTH)
    workshop.commit()
    workshop.finish("toy/a", CLAIMS, profile="paper", folder=tmp_path / "alone")
    assert_refused(workshop, "toy/a is not published by another machine", tmp_path / "alone", beside=True)


def test_a_machine_whose_notebook_is_shown_does_not_stand_beside_itself(paper, tmp_path):
    """Its measurement alone would not be that of the notebook and the figures that stay."""
    copy(project=paper.project)
    path = paper.project.data / "measured/machine/toy/a.json"
    before = path.read_bytes()
    paper.finish("toy/a", {"toy-001": {"measured": 0.9}}, profile="paper", folder=tmp_path / "again")
    assert_refused(paper, "toy/a is not published by another machine", tmp_path / "again", beside=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["figures", "data/measured/machine", "notebooks/rendered/toy"])
def test_nothing_is_published_through_a_link(paper, tmp_path_factory, name):
    copy(project=paper.project)
    place, outside = paper.project.root / name, tmp_path_factory.mktemp("outside") / "precious"
    place.rename(outside)
    place.symlink_to(outside)
    before = {file: file.read_bytes() for file in outside.rglob("*") if file.is_file()}
    paper.finish("toy/a", {"toy-001": {"measured": 0.9}}, profile="paper", figures=("other",))
    with pytest.raises(InputError, match=f"{place} is a link"):
        copy(project=paper.project)
    assert {file: file.read_bytes() for file in outside.rglob("*") if file.is_file()} == before


def test_the_list_of_what_is_published_is_not_written_through_a_link(paper, tmp_path_factory):
    copy(project=paper.project)
    outside = tmp_path_factory.mktemp("outside") / "precious.json"
    (paper.project.root / LIST).rename(outside)
    (paper.project.root / LIST).symlink_to(outside)
    before = outside.read_bytes()
    with pytest.raises(InputError, match=f"{LIST} is a link"):
        copy(project=paper.project)
    assert outside.read_bytes() == before


def test_no_file_outside_is_read_for_a_published_result(paper, tmp_path_factory, monkeypatch):
    copy(project=paper.project)
    outside = tmp_path_factory.mktemp("outside") / "precious"
    outside.write_text("mine")
    result, read = paper.project.root / "data/measured/machine/toy/a.json", []
    forge(result, files={"toy/a.ipynb": "", str(outside): ""})
    digest = results.digest
    monkeypatch.setattr(results, "digest", lambda path: (read.append(path), digest(path))[1])
    assert published.flaw(books(paper).notebooks[0], paper.project).startswith("a.json is damaged")
    assert results.seal_flaws(result, lambda name: paper.project.root / name) == ["a.json is damaged"]
    assert outside not in read


@pytest.mark.parametrize("name", ["toy", "toy/a.json"])
def test_a_published_result_behind_a_link_is_damaged(paper, tmp_path_factory, name):
    copy(project=paper.project)
    place, outside = paper.project.root / "data/measured/machine" / name, tmp_path_factory.mktemp("outside") / "moved"
    place.rename(outside)
    place.symlink_to(outside)
    assert published.flaw(books(paper).notebooks[0], paper.project) == "a.json is damaged (a link)"


@pytest.mark.parametrize("machine", ["machine", "laptop"])
def test_of_two_machines_with_the_same_damaged_figure_the_edited_one_is_told(paper, tmp_path, machine):
    copy(project=paper.project)
    paper.finish("toy/a", CLAIMS, profile="paper", folder=tmp_path / "second", machine="laptop")
    copy(tmp_path / "second", project=paper.project, beside=True)
    (paper.project.root / "figures/toy-a-a.png").write_bytes(b"")
    path = paper.project.data / f"measured/{machine}/toy/a.json"
    path.write_bytes(path.read_bytes().replace(b"0.5541", b"0.9999"))
    (book,) = (book for book in books(paper).notebooks if book.id == "toy/a")
    assert published.shown(book, paper.project) == path
