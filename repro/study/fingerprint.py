"""What a notebook's result depends on, and whether a finished result still fits."""

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from . import cells
from .catalogue import Notebook
from .paths import Project

ROOT_NAME = "repro"
MODULE = re.compile(rf"{ROOT_NAME}(\.\w+)+")


def dependencies(book: Notebook, project: Project) -> list[Path]:
    """The notebook, the sources it imports directly or indirectly, and its data files."""
    data = [f for pattern in book.data for f in project.data.glob(pattern) if f.is_file()]
    return [book.source(project), *sorted(sources(book.source(project), project)), *sorted(set(data))]


def sources(notebook: Path, project: Project) -> set[Path]:
    """Files of the package that the notebook's cells import, followed through the package."""
    # magics and shell lines are no Python
    code = [re.sub(r"(?m)^\s*[%!].*$", "", text) for text in cells.code(notebook)]
    queue = [file for text in code for name in _imports(text, "") for file in _files(name, project.package)]
    found: set[Path] = set()
    while queue:
        file = queue.pop()
        if file in found:
            continue
        found.add(file)
        queue += _followed(file, project.package)
    return found


def _followed(file: Path, package: Path) -> Iterator[Path]:
    text = file.read_text(encoding="utf-8")
    parts = (ROOT_NAME, *file.relative_to(package).parent.parts)
    for name in _imports(text, ".".join(parts)):
        yield from _files(name, package)
    if file.name == "__init__.py" and "def __getattr__" in text:
        # an __init__ that imports on demand may import any of its modules
        yield from file.parent.glob("*.py")


@cache
def _imports(text: str, package: str) -> tuple[str, ...]:
    """Full names of modules (or of things in them) that `text` imports; `package` is where it stands."""
    return tuple(_found(text, package))


def _found(text: str, package: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and MODULE.fullmatch(str(node.value)):
            yield node.value


def _files(name: str, package: Path) -> Iterator[Path]:
    """Source files that importing `name` runs, its parents included."""
    first, *rest = name.split(".")
    if first != ROOT_NAME:
        return
    place = package
    yield from _existing(place / "__init__.py")
    for part in rest:
        yield from _existing(place / f"{part}.py")
        place = place / part
        yield from _existing(place / "__init__.py")


def _existing(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path


def fingerprint(files: Iterable[Path], project: Project, **settings) -> str:
    """Hash of the files' names and contents and of the settings (parameters, profile, device)."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for file in files:
        place = file.relative_to(project.root) if file.is_relative_to(project.root) else Path(file.name)
        digest.update(f"\0{place}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def is_current(sidecar: dict | None, wanted: str, files: Iterable[Path]) -> bool:
    """Whether a sidecar is finished, has the fingerprint, and no file was touched since its run began."""
    run = (sidecar or {}).get("run", {})
    if not run.get("finished") or run.get("fingerprint") != wanted:
        return False
    return all(file.stat().st_mtime <= run["started"] for file in files)
