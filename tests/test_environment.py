"""pyproject.toml is the source of truth; the generated files must agree with it."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


EXTRAS = PROJECT["optional-dependencies"]
PINNED = {"requirements.txt": [*PROJECT["dependencies"], *EXTRAS["cpu"], *EXTRAS["test"]]}
PINNED["requirements-site.txt"] = EXTRAS["site"]


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


@pytest.mark.parametrize(("name", "extra"), [("environment.yml", "cpu"), ("environment-gpu.yml", "cuda13")])
def test_an_environment_of_conda_is_what_pyproject_generates(name, extra):
    text = (ROOT / name).read_text()
    assert text == sync_requirements().environment(PROJECT, extra)
    package = yaml.safe_load(text)["dependencies"][-1]["pip"][-1]
    assert package == f"-e .[{extra}]"
    assert extra in EXTRAS


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


CONTAINERS = {name: (ROOT / "containers" / name).read_text() for name in ("Dockerfile", "Dockerfile.cuda")}


@pytest.mark.parametrize("text", CONTAINERS.values(), ids=CONTAINERS)
def test_a_container_has_a_python_that_is_tested(text):
    versions = re.findall(r"^FROM python:([\d.]+)-slim$", text, re.M)
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert len(versions) == 1
    assert versions[0] in jobs["test"]["strategy"]["matrix"]["python"]
    assert SpecifierSet(PROJECT["requires-python"]).contains(versions[0])


@pytest.mark.parametrize("text", CONTAINERS.values(), ids=CONTAINERS)
def test_a_container_installs_what_is_pinned_before_it_has_the_sources(text):
    install, sources = text.index("\nRUN touch README.md"), text.index("COPY --chown=reader . .")
    before = " ".join(re.findall(r"^COPY --chown=reader (.+) \S+$", text[:install], re.M)).split()
    assert install < sources
    assert {"pyproject.toml", "requirements.txt", PROJECT["license-files"][0], "repro/__init__.py"} <= set(before)
    assert all((ROOT / name).is_file() for name in before)
    assert text[install:sources].count("--constraint requirements.txt setuptools") == 1
    assert ("--editable .[cpu]" in text) != ('install_gpu.sh .venv/bin/python "$CUDA"' in text)


@pytest.mark.parametrize("text", CONTAINERS.values(), ids=CONTAINERS)
def test_a_container_runs_the_command_line_as_an_ordinary_user(text):
    assert re.findall(r"^USER (.+)$", text, re.M) == ["1000"]
    assert text.endswith('ENTRYPOINT ["python", "-m", "repro"]\nCMD ["--help"]\n')


@pytest.mark.parametrize(
    ("driver", "extra", "newest"),
    [("12.4", "cuda12", ["cuda-toolkit<12.5"]), ("13.0", "cuda13", ["cuda-toolkit<13.1"]), ("14.0", "cuda13", [])],
)
def test_the_gpu_packages_are_no_newer_than_the_driver(tmp_path, driver, extra, newest):
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    command = ["bash", "tools/install_gpu.sh", str(python), driver]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].endswith(f"-e .[{extra}]")
    assert extra in EXTRAS
    toolkits = [
        line for line in (tmp_path / "constraints.txt").read_text().splitlines() if "cuda" in line.split("=")[0]
    ]
    assert [line for line in toolkits if not line.startswith("numba-cuda")] == newest


def test_the_container_for_a_gpu_is_for_the_oldest_driver_of_its_extra():
    assert re.findall(r"^ARG CUDA=(.+)$", CONTAINERS["Dockerfile.cuda"], re.M) == ["13.0"]


def test_containers_do_not_take_along_what_git_ignores():
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "build/*", "*.egg-info", "**/__pycache__"} <= set(ignored)


def test_binder_installs_what_a_run_needs_with_a_python_that_is_tested():
    lines = (ROOT / ".binder/requirements.txt").read_text().splitlines()
    assert lines[1:] == ["--constraint ../requirements.txt", "--editable .[cpu]"]
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    version = (ROOT / ".binder/runtime.txt").read_text().strip().removeprefix("python-")
    assert version in jobs["test"]["strategy"]["matrix"]["python"]


def address() -> str:
    """The address on GitHub, or what stands for it."""
    return re.search(r"github\.com/(\S+) study", (ROOT / ".binder/colab.ipynb").read_text())[1]


def test_what_the_browser_opens_is_there():
    pattern = rf"/{re.escape(address())}/(?:HEAD\?urlpath=lab/tree|blob/HEAD)/([^`]+)"
    opened = re.findall(pattern, (ROOT / "docs/developers.md").read_text())
    assert opened == ["notebooks/porous/cavity.ipynb", ".binder/colab.ipynb"]
    assert all((ROOT / name).is_file() for name in opened)


def test_one_command_puts_the_address_in():
    named = re.search(r"`sed -i s=\S+= (.+?)`", (ROOT / "docs/developers.md").read_text())[1].split()
    listed = subprocess.run(["git", "grep", "-lF", address()], cwd=ROOT, capture_output=True, text=True)
    known = {"docs/developers.md", ".binder/colab.ipynb"} if listed.returncode else set(listed.stdout.split())
    assert set(named) == known


def test_colab_runs_what_a_newcomer_runs(tmp_path):
    code = [cell.source for cell in nbformat.read(ROOT / ".binder/colab.ipynb", 4).cells if cell.cell_type == "code"]
    assert code[0].splitlines()[-1] == "make reproduce PROFILE=smoke"
    folder = tmp_path / "study/build/smoke/machine"
    folder.mkdir(parents=True)
    (folder / "scoreboard.md").write_text("it is this one")
    shown = [sys.executable, "-c", code[1].replace("Markdown(next", "print(next")]
    assert subprocess.run(shown, cwd=tmp_path, capture_output=True, text=True).stdout == "it is this one\n"
