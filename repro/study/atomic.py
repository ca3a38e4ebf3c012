"""Texts and JSON in files that are either whole or not there."""

import json
from pathlib import Path

from ..wholefile import whole


def write_text(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, on disk before the name appears."""
    with whole(path) as file:
        file.write_text(text, encoding="utf-8")


def write_json(path: Path, content: dict) -> None:
    """Replace `path` by `content` as JSON in one step."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path):
    """Content of a JSON file, None if it is missing or not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
