"""A copy of the checkout, in which somebody adds the paper of docs/adding.md by what stands there alone."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
MADE = [".git", *(line.strip("/") for line in (ROOT / ".gitignore").read_text().split())]
"""What a clone does not have."""
STEPS = (ROOT / "docs/adding.md").read_text(encoding="utf-8").partition("## A paper")[2].partition("## Publish it")[0]


def copy(target: Path, without: tuple[str, ...] = ()) -> Path:
    """Copy the checkout to the folder `target`, without the folders named from its top; returns the copy."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        here = Path(folder).relative_to(ROOT)
        named = {name for name in names if (here / name).as_posix() in without}
        return named | shutil.ignore_patterns(*MADE)(folder, names)

    return Path(shutil.copytree(ROOT, target, ignore=left_out))


def python(checkout: Path, *words: str) -> str:
    """What Python prints for a command in a copy; AssertionError with all of it where the command fails."""
    # neither the run, the commit nor the simulator, with which these tests may run, is theirs
    ours = ("REPRO_", "GIT_", "NUMBA_", "PYTEST_")
    mine = {k: v for k, v in os.environ.items() if not k.startswith(ours)} | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=checkout, env=mine, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def blocks(language: str) -> list[str]:
    """The blocks of a language among the steps."""
    found = re.findall(rf"^ *```{language}\n(.*?)^ *```$", STEPS, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(text) for text in found]


def said(pattern: str) -> str:
    """What the steps say at the place of the group of `pattern`."""
    return re.search(pattern, STEPS)[1]


def commands() -> list[list[str]]:
    """The words of each command for the Python of .venv, in their order."""
    return [line.split() for line in re.findall(r"^ *\.venv/bin/python (.+)$", STEPS, re.MULTILINE)]


def write(checkout: Path) -> None:
    """Write the files of the new paper where the steps say."""
    (claims,) = blocks("text")
    (checkout / said(r"in `(data/published/\w+\.csv)`")).write_text(claims)
    module, parameters, code, learning = blocks("python")
    path = checkout / said(r"This is `(repro/papers/\w+/\w+\.py)`")
    path.parent.mkdir()
    path.write_text(module)
    path.with_name("__init__.py").write_text('"""Sangani and Acrivos (1982): slow flow past cylinders."""\n')
    _write_notebook(checkout / said(r"such as `(notebooks/\w+/\w+\.ipynb)`"), parameters, code)
    (entry,) = blocks("toml")
    catalogue = checkout / said(r"List each in `(.+?)`, before the scoreboard")
    before, scoreboard, after = catalogue.read_text().partition('[[notebook]]\nid = "scoreboard"\n')
    catalogue.write_text(f"{before}{entry}\n{scoreboard}{after}")
    path = checkout / said(r"in `TEACHES` of\s+`(.+?)`")
    added = [f"    {line}\n" for line in learning.splitlines()]
    tables = path.read_text().split("}\n")
    path.write_text("}\n".join(map("".join, zip(tables, [*added, ""], strict=True))))


def _write_notebook(path: Path, parameters: str, code: str) -> None:
    first, last = (text.rstrip() for text in blocks("markdown"))
    new = nbformat.v4
    tagged = new.new_code_cell(parameters.rstrip(), metadata={"tags": [said(r"has the tag `(\w+)`")]})
    cells = [new.new_markdown_cell(first), tagged, new.new_code_cell(code.rstrip()), new.new_markdown_cell(last)]
    path.parent.mkdir()
    # as JupyterLab writes it
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    nbformat.write(new.new_notebook(cells=cells, metadata=spec), path)
