"""The tool that asks whether the tests notice: what it says of a change by how the change's tests end."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
tool = importlib.import_module("mutate")

LIST = """
[tests]
some = ["tests/test_some.py"]

[[change]]
file = "some.py"
find = "1 + 1"
replace = "1 - 1"
tests = "some"
"""


@pytest.fixture
def ends(monkeypatch):
    """Says how the tests of a changed source end: with an exit status, or never where it is None."""

    def one_file(folder: Path) -> Path:
        (folder / "some.py").write_text("two = 1 + 1\n")
        return folder

    def say(status: int | None):
        def run(command, cwd, timeout, **_):
            changed = "1 - 1" in (Path(cwd) / "some.py").read_text()
            if changed and status is None:
                raise subprocess.TimeoutExpired(command, timeout)
            return SimpleNamespace(returncode=status if changed else 0, stdout="")

        monkeypatch.setattr(subprocess, "run", run)

    monkeypatch.setattr(tool, "copy_of", one_file)
    return say


@pytest.mark.parametrize(
    ("status", "word", "total", "code"),
    [
        (0, "survived", "0 of 1 caught, 0 undecided", 1),
        (1, "caught", "1 of 1 caught, 0 undecided", 0),
        # a crash
        (-11, "caught", "1 of 1 caught, 0 undecided", 0),
        (4, "tests did not run", "0 of 1 caught, 0 undecided", 1),
        (None, "undecided", "0 of 1 caught, 1 undecided", 1),
    ],
)
def test_a_change_is_caught_only_where_its_tests_end_and_fail(ends, tmp_path, status, word, total, code):
    ends(status)
    (tmp_path / "mutations.toml").write_text(LIST)
    app = tool.typer.Typer()
    app.command()(tool.main)
    found = CliRunner().invoke(app, ["--list", str(tmp_path / "mutations.toml")])
    *_, line, last = found.output.splitlines()
    assert line.startswith(word)
    assert (last, found.exit_code) == (total, code)


@pytest.mark.parametrize("listed", sorted(tool.ROOT.glob("tools/mutations*.toml")), ids=lambda path: path.stem)
def test_each_change_that_is_listed_finds_its_text_once(listed):
    changes = tomllib.loads(listed.read_text())["change"]
    counts = {(c["file"], c["find"]): (tool.ROOT / c["file"]).read_text().count(c["find"]) for c in changes}
    assert not {change: count for change, count in counts.items() if count != 1}
