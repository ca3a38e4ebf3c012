"""The seal of a result: hashes of its executed notebook, of its figures and of itself.

It tells an edited or mixed-up result from one that a run made. It is no signature: who computes it anew can forge it.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from repro.files import json_text, read_json

FILES, SEAL = "files", "seal"


def sealed(sidecar: Mapping, files: Mapping[str, Path]) -> dict:
    """The result with the hashes of its files, by name, and its own."""
    content = {k: v for k, v in sidecar.items() if k != SEAL} | {FILES: {n: digest(p) for n, p in files.items()}}
    return {**content, SEAL: _own(content)}


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def flaws(path: Path, place: Callable[[str], Path]) -> list[str]:
    """What is wrong with the sealed result at `path`, a line each; `place` tells where a file of it lies."""
    content = read_json(path)
    if not isinstance(content, dict) or not isinstance(content.get(FILES), dict):
        return [f"{path.name} is damaged"]
    own = _own({k: v for k, v in content.items() if k != SEAL})
    # as bytes: read as text, every kind of line end is the same
    if not own or content.get(SEAL) != own or path.read_bytes() != json_text(content).encode():
        return [f"{path.name} was edited after the run"]
    return [flaw for name, wanted in content[FILES].items() if (flaw := _flaw(name, place(name), wanted))]


def _flaw(name: str, path: Path, wanted: str) -> str:
    if not path.is_file():
        return f"{name} is missing"
    return "" if digest(path) == wanted else f"{name} is not what the run made"


def _own(content: Mapping) -> str:
    try:
        return hashlib.sha256(json_text(dict(content)).encode()).hexdigest()
    except ValueError:  # NaN, which no run writes
        return ""
