"""Adds the paper of docs/adding.md to a copy of the checkout, by what stands there alone."""

import re
import textwrap
from pathlib import Path

import nbformat

from helpers.checkouts import ROOT

STEPS = (ROOT / "docs/adding.md").read_text(encoding="utf-8").partition("## A paper")[2].partition("## Publish it")[0]


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
