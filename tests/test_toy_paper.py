"""A newcomer adds a paper by docs/adding.md alone: its blocks, put where it says, run and are judged."""

import csv
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
STEPS = (ROOT / "docs/adding.md").read_text().partition("## A paper")[2].partition("## A claim")[0]
PARTS = ("docs", "notebooks", "repro", "tools", "data/published", "README.md", "pyproject.toml")
"""Of the checkout, what the steps need."""


def blocks(language: str) -> list[str]:
    """The blocks of a language among the steps."""
    found = re.findall(rf"^ *```{language}\n(.*?)^ *```$", STEPS, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(text) for text in found]


def said(pattern: str) -> str:
    """What the steps say at the place of the group of `pattern`."""
    return re.search(pattern, STEPS)[1]


def python(checkout: Path, words: str) -> str:
    """What a command prints that the steps write with the Python of .venv."""
    mine = {k: v for k, v in os.environ.items() if not k.startswith(("REPRO_", "GIT_"))}
    command = [sys.executable, *words.split()]
    environment = mine | {"PYTHONPATH": str(checkout)}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of the checkout, with the paper of the documentation added step by step."""
    root = tmp_path_factory.mktemp("checkout")
    for name in PARTS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("rendered", "__pycache__"))
        else:
            shutil.copy(ROOT / name, root / name)
    (claims,) = blocks("text")
    (root / said(r"in `(data/published/\w+\.csv)`")).write_text(claims)
    parameters, code, learning = blocks("python")
    new = nbformat.v4
    tagged = new.new_code_cell(parameters, metadata={"tags": [said(r"has the tag `(\w+)`")]})
    notebook = root / said(r"such as `(notebooks/\w+/\w+\.ipynb)`")
    notebook.parent.mkdir()
    nbformat.write(new.new_notebook(cells=[tagged, new.new_code_cell(code)]), notebook)
    (entry,) = blocks("toml")
    catalogue = root / said(r"List each in `(.+?)`, before the scoreboard")
    before, scoreboard, after = catalogue.read_text().partition('[[notebook]]\nid = "scoreboard"\n')
    catalogue.write_text(f"{before}{entry}\n{scoreboard}{after}")
    path = root / said(r"end of `TEACHES` in\s+`(.+?)`")
    added = [f"    {line}\n" for line in learning.splitlines()]
    tables = path.read_text().split("}\n")
    path.write_text("}\n".join(map("".join, zip(tables, [*added, ""], strict=True))))
    python(root, said(r"\.venv/bin/python (tools/excerpt\.py)"))
    return root


@pytest.mark.parametrize(("value", "verdict"), [("1.0", "reproduced"), ("2.0", "not reproduced")])
def test_the_claim_of_the_new_paper_is_judged(checkout, value, verdict):
    claims = checkout / "data/published/md.csv"
    claims.write_text(claims.read_text().replace("argon,1.0,", f"argon,{value},"))
    assert f",{value}," in claims.read_text()
    printed = python(checkout, said(r"`\.venv/bin/python (-m repro run md --profile smoke)`"))
    (table,) = checkout.glob("build/smoke/*/scoreboard.csv")
    with open(table, newline="") as file:
        found = {row["id"]: row["verdict"] for row in csv.DictReader(file)}
    assert found["md-001"] == verdict
    assert "md/argon" in printed


def test_the_new_notebook_stands_on_the_path_of_learning(checkout):
    page = (checkout / "notebooks/README.md").read_text()
    assert "### `md`: molecular dynamics" in page
    # with a link to its result only once there is one
    assert "rendered/md" not in page + (checkout / "README.md").read_text()
    assert "[Argon: its temperature (table 1)](md/argon.ipynb): what the velocities of atoms say" in page
