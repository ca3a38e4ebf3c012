"""The cells of a notebook's file."""

from pathlib import Path

from repro.files import read_json


def read(notebook: Path) -> list[dict] | None:
    """The cells of a notebook, None if the file is missing or not a notebook."""
    content = read_json(notebook)
    cells = content.get("cells") if isinstance(content, dict) else None
    return cells if isinstance(cells, list) and all(map(_is_cell, cells)) else None


def _is_cell(cell) -> bool:
    if not isinstance(cell, dict) or not isinstance(cell.get("metadata", {}), dict):
        return False
    # nbformat allows a text or a list of lines
    lines = cell.get("source")
    return isinstance(cell.get("cell_type"), str) and isinstance(lines, str | list) and all(map(_is_text, lines))


def _is_text(line) -> bool:
    return isinstance(line, str)


def code(notebook: Path) -> list[str]:
    """Texts of the code cells, empty if the file is missing or not a notebook."""
    return ["".join(cell["source"]) for cell in read(notebook) or [] if cell["cell_type"] == "code"]
