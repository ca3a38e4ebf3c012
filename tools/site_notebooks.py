"""An executed notebook as the site shows it."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from repro.study.notebooks import read_code, slug
from repro.study.show.html import with_places

FOLDED = {
    "parameters": "Parameters for a laptop",
    "injected-parameters": "Parameters of this run",
    "setup": "Imports and set-up",
}
"""Cells that a reader seldom wants to see, and the words that unfold them."""
#: what keeps a figure or a film under a name
KEPT = re.compile(r"(?:record\.figure\(|keep_(?:film|animation)\(record,)\s*f?\"([^\"]+)\"")


def for_site(file: Path, mended: Callable[[str], str], figures: Mapping[str, Mapping], head: str = "") -> dict:
    """The notebook with its links mended, set-up folded, and places that links to its figures and claims lead to.

    `figures` are those of its result, by name; `head` stands below the title.
    """
    content = json.loads(file.read_text(encoding="utf-8"))
    content["metadata"] = {k: content["metadata"][k] for k in ("kernelspec", "language_info")}
    cells = []
    for cell in content["cells"]:
        here = figures_of("".join(cell["source"]), figures)
        cell["metadata"] = _metadata(cell, [figures[name].get("caption") or f"figure {name}" for name in here])
        if cell["cell_type"] == "markdown":
            cell["source"] = mended("".join(cell["source"]))
        for data in (output.get("data", {}) for output in cell.get("outputs", [])):
            if "text/markdown" in data:
                data["text/markdown"] = mended("".join(data["text/markdown"]))
            if "text/html" in data:
                data["text/html"] = with_places("".join(data["text/html"]))
        if here:
            cells.append(_markdown("".join(f'<span id="{place_of(name)}"></span>' for name in here)))
        cells.append(cell)
        if len(cells) == 1 and head:
            cells.append(_markdown(head))
    return content | {"cells": cells}


def place_of(figure: str) -> str:
    """The place of a figure in its notebook's page."""
    return f"figure-{slug(figure)}"


def figures_of(source: str, names: Iterable[str]) -> list[str]:
    """Those of the figures that a cell keeps, by its source."""
    patterns = [re.sub(r"\\\{.*?\\\}", ".+", re.escape(text)) for text in KEPT.findall(source)]
    return [name for name in names if any(re.fullmatch(pattern, name) for pattern in patterns)]


def placed(file: Path, names: Iterable[str]) -> dict[str, str]:
    """By figure the place in its notebook's page, with the sign before it; empty for one that no cell names."""
    known = {name for source in read_code(file) for name in figures_of(source, names)}
    return {name: f"#{place_of(name)}" if name in known else "" for name in names}


def _markdown(source: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _metadata(cell: dict, captions: list[str]) -> dict:
    tags = cell.get("metadata", {}).get("tags", [])
    folded = next((FOLDED[tag] for tag in tags if tag in FOLDED), "")
    shown = {"code_prompt_show": folded, "code_prompt_hide": folded} if folded else {}
    if captions:
        shown["image"] = {"alt": captions[0]}
    return {"tags": ["hide-input"] if folded else [], "mystnb": shown}
