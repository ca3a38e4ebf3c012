"""The artefact appendix names commands that exist, and adds up what the published runs took."""

import re
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from repro.cli import app
from repro.files import read_json
from repro.study.notebooks import Project, catalogue
from repro.study.notebooks.catalogue import EVERYTHING
from repro.study.publish import published
from repro.study.run.progress import duration

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import artifact  # noqa: E402

TEXT = (ROOT / "docs/artifact.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()


def test_every_target_of_make_is_one():
    targets = set(re.findall(r"`make ([^ `]+)", TEXT)) - {".venv/.installed"}
    assert {"reproduce", "test", "site"} <= targets
    assert targets <= set(re.findall(r"^(\w+):", MAKEFILE, re.MULTILINE))
    assert "`make .venv/.installed`" in TEXT
    assert "\nVENV    := .venv\n" in MAKEFILE
    assert "\nSTAMP   := $(VENV)/.installed\n" in MAKEFILE


def test_every_command_is_one():
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    named = set(re.findall(r"python -m repro (\w+)", TEXT))
    assert {"doctor", "run", "status"} <= named <= known


def test_the_times_are_those_of_the_published_runs():
    rows = {row.split("`")[1]: row.split("|") for row in TEXT.splitlines() if "--profile paper --share 8` | " in row}
    # the results whose notebooks are shown; the scoreboard measures nothing
    books = [book for book in catalogue.load(Project(ROOT)).notebooks if EVERYTHING not in book.needs]
    sidecars = [read_json(file) for book in books if (file := published.shown(book, Project(ROOT)))]
    for command, cells in rows.items():
        paper = command.split()[1].removeprefix("--profile")
        mine = [content for content in sidecars if content["id"].startswith(paper)]
        assert int(cells[2]) == len(mine)
        spans = [(run["started"], run["started"] + run["seconds"]) for run in (content["run"] for content in mine)]
        assert cells[4].strip() == duration(artifact.busy(spans))
        names = {content["provenance"]["gpu"]["name"].removeprefix("NVIDIA ") for content in mine}
        assert set(cells[3].strip().split(", ")) == names
    assert len(rows) == 1 + len({content["id"].partition("/")[0] for content in sidecars})


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20))))
def test_the_time_counts_once_what_ran_side_by_side(runs):
    spans = [(begin, begin + length) for begin, length in runs]
    seconds = {second for begin, end in spans for second in range(begin, end)}
    assert artifact.busy(spans) == len(seconds)


def test_every_step_has_its_time():
    steps = TEXT.partition("## Steps")[2].partition("## The claims")[0]
    rows = [line.split("|")[1:-1] for line in steps.splitlines() if line.startswith("|")][2:]
    assert len(rows) == 7
    assert all(re.search(r"\d (s|min)|a minute|see below", row[2]) for row in rows)
