"""Which commit a checkout is, and whether its sources are those of the commit; by git or by the manifest of a copy."""

import shutil
import subprocess

import pytest
from helpers.workshop import Workshop

from repro.errors import InputError
from repro.files import write_json
from repro.study.keep import provenance
from repro.study.notebooks import Project


@pytest.fixture
def checkout(good) -> Workshop:
    """A git checkout without changes."""
    good.source("toy.py", "SIZE = 1")
    (good.project.root / "pyproject.toml").write_text("[project]\n")
    good.commit()
    return good


@pytest.fixture
def copied(checkout, tmp_path_factory):
    """The top of a copy without git, which brings the manifest."""
    provenance.write_manifest(checkout.project)
    place = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(checkout.project.root, place, ignore=shutil.ignore_patterns(".git"))
    return place


def change(root, name: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    with open(root / name, "a") as file:
        file.write("\n")


SOURCES = ["repro/toy.py", "notebooks/toy/good.ipynb", "notebooks/catalogue.toml", "data/published/toy.csv"]
SOURCES += ["pyproject.toml"]
NEW = ["repro/more.py", "repro/deep/more.py", "notebooks/toy/more.ipynb", "data/samples/rock.npy", "requirements.txt"]
NEW += [
    "data/measured_by_others/rock.csv",
    *(f"data/samples/rock.{ending}" for ending in ("raw", "tif", "tiff", "png")),
]
RESULTS = ["notebooks/rendered/toy/good.ipynb", "data/measured/machine/toy/good.json", "figures/toy-good-a.png"]
RESULTS += ["build/quick/machine/toy/good.json", "data/measured/machine/toy/good.csv"]
BESIDE = ["repro/__pycache__/toy.cpython-311.pyc", "notebooks/toy/.ipynb_checkpoints/good-checkpoint.ipynb"]


def test_checkout_without_changes_is_clean_with_its_commit(checkout):
    root = checkout.project.root
    assert provenance.commit(root) == {"commit": checkout.git("rev-parse", "HEAD"), "dirty": False}


@pytest.mark.parametrize("name", SOURCES + NEW)
def test_changed_or_untracked_source_makes_a_checkout_dirty(checkout, name):
    change(checkout.project.root, name)
    assert provenance.commit(checkout.project.root)["dirty"]


def test_staged_and_removed_sources_make_a_checkout_dirty(checkout):
    checkout.git("mv", "repro/toy.py", "repro/other.py")
    assert provenance.commit(checkout.project.root)["dirty"]
    checkout.git("reset", "--hard", "--quiet")
    (checkout.project.root / "repro/toy.py").unlink()
    assert provenance.commit(checkout.project.root)["dirty"]


def test_git_is_asked_of_the_checkout_whatever_repository_the_environment_names(checkout, tmp_path, monkeypatch):
    shutil.copytree(checkout.project.root, tmp_path / "other")
    checkout.git("commit", "--quiet", "--allow-empty", "--message", "newer")
    change(checkout.project.root, "repro/more.py")
    expected = {"commit": checkout.git("rev-parse", "HEAD"), "dirty": True}
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert provenance.commit(checkout.project.root) == expected


@pytest.mark.parametrize("name", [*RESULTS, "README.md"])
def test_results_make_no_checkout_dirty(checkout, name):
    change(checkout.project.root, name)
    assert not provenance.commit(checkout.project.root)["dirty"]


def test_copy_with_its_manifest_is_clean_with_the_commit(checkout, copied):
    assert provenance.commit(copied) == {"commit": checkout.git("rev-parse", "HEAD"), "dirty": False}


@pytest.mark.parametrize("name", SOURCES + NEW)
def test_changed_or_added_source_makes_a_copy_dirty(copied, name):
    change(copied, name)
    assert provenance.commit(copied)["dirty"]


@pytest.mark.parametrize("name", SOURCES)
def test_removed_source_makes_a_copy_dirty(copied, name):
    (copied / name).unlink()
    assert provenance.commit(copied)["dirty"]


@pytest.mark.parametrize("name", [*RESULTS, *BESIDE, "README.md"])
def test_results_make_no_copy_dirty(copied, name):
    change(copied, name)
    assert not provenance.commit(copied)["dirty"]


def test_copy_of_a_dirty_checkout_is_dirty(checkout):
    change(checkout.project.root, "repro/toy.py")
    provenance.write_manifest(checkout.project)
    shutil.rmtree(checkout.project.root / ".git")
    assert provenance.commit(checkout.project.root)["dirty"]


def test_git_is_believed_before_the_manifest(checkout):
    provenance.write_manifest(checkout.project)
    change(checkout.project.root, "repro/toy.py")
    commit = checkout.commit()
    assert provenance.commit(checkout.project.root) == {"commit": commit, "dirty": False}


@pytest.mark.parametrize("touched", [False, True])
def test_a_copy_with_the_git_of_an_older_commit_goes_by_a_manifest_that_fits(checkout, tmp_path, touched):
    place = tmp_path / "copy"
    shutil.copytree(checkout.project.root, place)
    change(checkout.project.root, "repro/toy.py")
    checkout.commit()
    provenance.write_manifest(checkout.project)
    for name in ("repro/toy.py", "build/manifest.json"):
        (place / name).parent.mkdir(exist_ok=True)
        shutil.copy(checkout.project.root / name, place / name)
    if touched:
        change(place, "repro/toy.py")
    found = provenance.commit(place)
    assert found["dirty"] == touched
    assert (found["commit"] == checkout.git("rev-parse", "HEAD")) != touched


def test_neither_git_nor_manifest_knows_nothing(good):
    assert provenance.commit(good.project.root) == {}


@pytest.mark.parametrize("content", [[], {}, {"commit": "0123abc", "files": []}])
def test_broken_manifest_knows_nothing(good, content):
    write_json(provenance.manifest_file(good.project.root), content)
    assert provenance.commit(good.project.root) == {}


def test_manifest_of_what_is_no_git_checkout_is_refused(good):
    with pytest.raises(InputError, match="is no git checkout"):
        provenance.write_manifest(good.project)


@pytest.mark.skipif(not (Project.default().root / ".git").exists(), reason="a copy without git")
def test_this_checkout_knows_its_commit():
    assert provenance.commit(Project.default().root).get("commit")


def test_copy_within_a_repository_that_does_not_know_it_goes_by_its_manifest(copied):
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "another project"]):
        identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
        subprocess.run(["git", "-C", copied.parent, *identity, *words], check=True)
    before = provenance.commit(copied)
    assert not before["dirty"]
    change(copied, "repro/toy.py")
    assert provenance.commit(copied) == before | {"dirty": True}
