"""pyproject.toml is the source of truth; the generated files must agree with it."""

import importlib.util
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


PINNED = {"requirements.txt": [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]}
PINNED["requirements-site.txt"] = PROJECT["optional-dependencies"]["site"]


def pins(name: str) -> list[Requirement]:
    lines = (ROOT / name).read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def sync_requirements():
    """tools/sync_requirements.py as a module."""
    spec = importlib.util.spec_from_file_location("sync", ROOT / "tools/sync_requirements.py")
    sync = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sync)
    return sync


@pytest.mark.parametrize(("name", "extra"), [("environment.yml", ""), ("environment-gpu.yml", "cuda13")])
def test_an_environment_of_conda_is_what_pyproject_generates(name, extra):
    text = (ROOT / name).read_text()
    assert text == sync_requirements().environment(PROJECT, extra)
    package = yaml.safe_load(text)["dependencies"][-1]["pip"][-1]
    assert package == (f"-e .[{extra}]" if extra else "-e .")
    assert not extra or extra in PROJECT["optional-dependencies"]


@pytest.mark.parametrize("name", PINNED)
def test_every_requirement_has_a_pin_that_satisfies_it(name):
    locked = [(canonical(pin.name), s.version) for pin in pins(name) for s in pin.specifier]
    for wanted in map(Requirement, PINNED[name]):
        # some have one for each version of Python
        versions = [version for pinned, version in locked if pinned == canonical(wanted.name)]
        assert versions, wanted
        assert all(map(wanted.specifier.contains, versions)), wanted


@pytest.mark.parametrize("name", PINNED)
def test_every_pin_is_exact_and_names_no_index(name):
    assert all([s.operator for s in pin.specifier] == ["=="] for pin in pins(name))
    text = (ROOT / name).read_text()
    assert not re.search(r"https?:|index-url|find-links|file:| @ |/", text.split("\n", 1)[1])


def test_the_site_needs_nothing_that_is_pinned_otherwise_for_a_run():
    assert {canonical(pin.name) for pin in pins("requirements-site.txt")}.isdisjoint(
        canonical(pin.name) for pin in pins("requirements.txt")
    )


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert f'__version__ = "{citation["version"]}"' in (ROOT / "repro/__init__.py").read_text()
    assert (citation["title"], citation["license"]) == (PROJECT["description"], PROJECT["license"])


@pytest.mark.parametrize(
    ("workflow", "command"),
    [("ci", "make test"), ("ci", "make reproduce PROFILE=smoke"), ("weekly", "make reproduce")],
)
def test_the_workflows_of_forks_run_what_a_newcomer_runs(workflow, command):
    jobs = yaml.safe_load((ROOT / f".github/workflows/{workflow}.yml").read_text())["jobs"]
    assert command in [step.get("run") for job in jobs.values() for step in job["steps"]]
    target = command.split()[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize(
    ("user", "words", "status", "said"),
    [
        (0, [], 2, "JupyterLab does not start as root: use another user, or make lab LAB=--allow-root"),
        (0, ["LAB=--allow-root"], 0, "lab notebooks --allow-root"),
        (1000, [], 0, "lab notebooks"),
    ],
)
def test_make_lab_as_root_says_what_to_do(tmp_path, user, words, status, said):
    for name, line in (("id", f"echo {user}"), ("jupyter", 'echo "$@"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    # what is installed is neither looked at nor made
    command = ["make", "--no-print-directory", "-o", "stamp", "lab", "STAMP=stamp", f"BIN={tmp_path}", *words]
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert done.returncode == status
    assert said in done.stdout.splitlines()
