"""Which sources of the package a notebook imports, directly or indirectly.

What was worked out from a text is kept between processes, by the hash of the text and of the module that reads it.
"""

import ast
import atexit
import hashlib
import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path

from repro.errors import InputError
from repro.files import cache_folder, read_json, write_json
from repro.study.notebooks import Project, read_code

ROOT_NAME = "repro"
MODULE = re.compile(rf"{ROOT_NAME}(\.\w+)+")
GENERATED = re.compile(rf"(?m)^\s*(?:from ({ROOT_NAME}[\w.]*) import (\([^)]*\)|.*)|import ({ROOT_NAME}[\w.]*))")
HOMES = "_HOMES"
"""Name of the table in which an __init__ that imports on demand says which names come from a module."""

MOST = 4000
"""Entries that are kept, the newest."""


def remember(function: Callable) -> Callable:
    """`function` of texts, whose result JSON can hold, worked out once for each of its arguments."""
    salt = f"{function.__qualname__}\0{Path(inspect.getfile(function)).read_text(encoding='utf-8')}"

    @cache
    @wraps(function)
    def remembered(*texts: str):
        name = hashlib.sha256("\0".join((salt, *texts)).encode()).hexdigest()[:32]
        known = _known()
        if name not in known:
            known[name] = function(*texts)
            _save_at_exit()
        return known[name]

    return remembered


def _cache_file() -> Path:
    return cache_folder() / "sources.json"


@cache
def _known() -> dict:
    content = read_json(_cache_file())
    return content if isinstance(content, dict) else {}


@cache
def _save_at_exit() -> None:
    @atexit.register
    def save() -> None:
        # without a place to keep them they are worked out again
        with suppress(InputError):
            write_json(_cache_file(), dict(list(_known().items())[-MOST:]))


def sources(notebook: Path, project: Project) -> set[Path]:
    """Files of the package that the notebook's cells import, followed through the package."""
    # magics and shell lines are no Python
    code = [re.sub(r"(?m)^\s*[%!].*$", "", text) for text in read_code(notebook)]
    queue = [file for text in code for name in _imports(text, "") for file in _files(name, project.package)]
    found: set[Path] = set()
    while queue:
        file = queue.pop()
        if file in found:
            continue
        found.add(file)
        queue += _followed(file, file.read_text(encoding="utf-8"), project.package)
    return found


@cache
def _followed(file: Path, text: str, package: Path) -> list[Path]:
    parts = (ROOT_NAME, *file.relative_to(package).parent.parts)
    found = [imported for name in _imports(text, ".".join(parts)) for imported in _files(name, package)]
    if file.name == "__init__.py" and "def __getattr__" in text and not _homes(file.parent):
        # nobody knows what it imports on demand: any of its modules
        found += file.parent.glob("*.py")
    return found


@remember
def _imports(text: str, package: str) -> list[str]:
    """Full names of modules (or of things in them) that `text` imports; `package` is where it stands."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    found = []
    documentation = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found += [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation:
            if MODULE.fullmatch(node.value):
                found.append(node.value)
            # sources that are written here and imported later
            for base, names, module in GENERATED.findall(node.value):
                # names that are filled in later may be any of it
                found += [f"{base}.{name}" for name in re.findall(r"\w+", names)] or [base or module]
    return found


@cache
def _files(name: str, package: Path) -> list[Path]:
    """Source files that importing `name` runs, its parents included."""
    first, *rest = name.split(".")
    if first != ROOT_NAME:
        return []
    place, found = package, [package / "__init__.py"]
    for part in rest:
        home = _homes(place).get(part)
        found += [place / f"{home}.py"] if home else []
        found += [place / f"{part}.py", place / part / "__init__.py"]
        place /= part
    # the package itself: nobody knows what is asked of it
    found += [place / f"{home}.py" for home in _homes(place).values()]
    return [file for file in found if file.is_file()]


def _homes(package: Path) -> dict[str, str]:
    """The modules from which names are imported on demand, by name; empty if there are none."""
    init = package / "__init__.py"
    text = init.read_text(encoding="utf-8") if init.is_file() else ""
    for node in ast.parse(text).body if f"{HOMES} = " in text else ():
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == HOMES:
            return {name: home for home, names in ast.literal_eval(node.value).items() for name in names.split()}
    return {}
