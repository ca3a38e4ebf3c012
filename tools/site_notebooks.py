"""An executed notebook as the site shows it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

FOLDED = {"parameters": "Parameters for a laptop", "injected-parameters": "Parameters of this run"}
"""Cells that a reader seldom wants to see, and the words that unfold them."""


def for_site(file: Path, mended: Callable[[str], str]) -> dict:
    """The notebook with its links mended, parameters folded, and figures with a name for who cannot see them."""
    content = json.loads(file.read_text(encoding="utf-8"))
    content["metadata"] = {k: content["metadata"][k] for k in ("kernelspec", "language_info")}
    for cell in content["cells"]:
        tags = cell.get("metadata", {}).get("tags", [])
        cell["metadata"] = _metadata(cell, tags)
        if cell["cell_type"] == "markdown":
            cell["source"] = mended("".join(cell["source"]))
        for data in (output.get("data", {}) for output in cell.get("outputs", [])):
            if "text/markdown" in data:
                data["text/markdown"] = mended("".join(data["text/markdown"]))
    return content


def _metadata(cell: dict, tags: list[str]) -> dict:
    folded = next((FOLDED[tag] for tag in tags if tag in FOLDED), "")
    shown = {"code_prompt_show": folded, "code_prompt_hide": folded} if folded else {}
    names = re.findall(r"record\.figure\(\s*f?\"([^\"]+)\"", "".join(cell["source"]))
    if names:
        shown["image"] = {"alt": f"figure {names[0]}"}
    return {"tags": ["hide-input"] if folded else [], "mystnb": shown}
