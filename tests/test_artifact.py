"""The artefact appendix names commands that exist, and adds up what the published runs took."""

import re
from pathlib import Path

from repro.cli import app
from repro.files import read_json
from repro.study.progress import duration

ROOT = Path(__file__).resolve().parent.parent
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
    rows = {
        row.split("`")[1]: row.split("|") for row in TEXT.splitlines() if "--profile paper --device cuda` | " in row
    }
    # of the machine whose notebooks are shown; the scoreboard measures nothing
    sidecars = [read_json(file) for file in (ROOT / "data/measured/nvidia-h200").rglob("*.json")]
    for command, cells in rows.items():
        paper = command.split()[1].removeprefix("--profile")
        mine = [content for content in sidecars if content["id"].startswith(paper)]
        assert int(cells[2]) == len(mine)
        assert cells[3].strip() == duration(sum(content["run"]["seconds"] for content in mine))
    assert len(rows) == 1 + len({content["id"].partition("/")[0] for content in sidecars})


def test_every_step_has_its_time():
    steps = TEXT.partition("## Steps")[2].partition("## The claims")[0]
    rows = [line.split("|")[1:-1] for line in steps.splitlines() if line.startswith("|")][2:]
    assert len(rows) == 7
    assert all(re.search(r"\d (s|min)|a minute|see below", row[2]) for row in rows)
