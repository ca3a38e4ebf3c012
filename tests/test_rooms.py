"""Which room may import which: who knows the rule need not read the imports."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

GROUND = {"declared", "environment", "errors", "files", "hardware", "exclusive_timing", "checksummed_hdf5"}
GROUND |= {"source_code", "on_demand", "leftovers", "vtk_array", "vtk_image"}

#: beside itself and the ground floor
MAY_IMPORT = {
    "parallel": set(),
    "particles": {"parallel"},
    "lbm": {"parallel"},
    "dpd": {"particles", "parallel"},
    "sph": {"particles", "parallel"},
    "pic": {"particles", "parallel"},
    "papers": {"lbm", "dpd", "sph", "pic", "particles", "parallel"},
    "study": {"parallel.select", "parallel.versions"},
}

#: the rooms of the study, from the ground up, and which of the others each may import
STUDY = {
    "notebooks": set(),
    "judge": {"notebooks"},
    "keep": {"notebooks", "judge"},
    "run": {"notebooks", "judge", "keep"},
    "publish": {"notebooks", "judge", "keep"},
    "show": {"notebooks", "judge", "keep", "run", "publish"},
}
MOST_MODULES_OF_THE_STUDY = 31

#: the command line stands above all rooms
ENTRIES = {"cli", "__main__", "__init__"}

FILES = sorted((ROOT / "repro").rglob("*.py"))


def module_of(path: Path) -> str:
    """The module's name below repro."""
    parts = path.relative_to(ROOT / "repro").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path) for path in FILES}


@cache
def imports_of(path: Path) -> set[str]:
    """Full names of the modules that a file imports."""
    package = ("repro", *path.relative_to(ROOT / "repro").parent.parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            inside = [
                name for alias in node.names if (name := f"{base}.{alias.name}").removeprefix("repro.") in MODULES
            ]
            found |= set(inside) or {base}
    return found


def ours(path: Path) -> set[str]:
    """Modules below repro that a file imports."""
    return {name.removeprefix("repro.") for name in imports_of(path) if name.startswith("repro.")}


def below(room: str) -> set[str]:
    """The rooms, and modules of others, that a room may import."""
    return GROUND if room in GROUND else GROUND | MAY_IMPORT[room] | {room}


def test_a_room_imports_only_the_rooms_below_it():
    rooms = {path: module_of(path).split(".")[0] for path in FILES}
    ruled = {path: room for path, room in rooms.items() if room not in ENTRIES | {""}}
    assert set(ruled.values()) <= GROUND | set(MAY_IMPORT)
    wrong = [
        f"{module_of(path)} imports {name}"
        for path, room in ruled.items()
        for name in ours(path)
        if not any(f"{name}.".startswith(f"{allowed}.") for allowed in below(room))
    ]
    assert wrong == []


@pytest.mark.parametrize("path", sorted((ROOT / "repro/study").rglob("*.py")), ids=module_of)
def test_a_room_of_the_study_imports_only_those_below_it(path):
    room = [*module_of(path).split("."), ""][1]
    others = {name.split(".")[1] for name in ours(path) if name.startswith("study.")}
    assert others <= STUDY[room] | {room} if room else not others


def test_the_study_stays_small_enough_to_know():
    modules = [path for path in FILES if path.is_relative_to(ROOT / "repro/study")]
    assert len(modules) <= MOST_MODULES_OF_THE_STUDY
    assert {path.parent.name for path in modules if path.parent.name != "study"} == set(STUDY)


def test_tables_and_figures_are_for_papers_and_study():
    others = [path for path in FILES if module_of(path).split(".")[0] not in ("papers", "study")]
    imported = {path: {name.split(".")[0] for name in imports_of(path)} for path in others}
    assert [module_of(path) for path in others if imported[path] & {"pandas", "matplotlib"}] == []


def test_no_module_imports_itself_through_others():
    graph = {module_of(path): ours(path) & MODULES for path in FILES}
    # whoever imports a module imports its package, which may import on demand only
    done, on_the_way = set(), []

    def visit(name):
        assert name not in on_the_way, " -> ".join([*on_the_way[on_the_way.index(name) :], name])
        if name not in done:
            on_the_way.append(name)
            for other in sorted(graph[name]):
                visit(other)
            on_the_way.pop()
            done.add(name)

    for name in sorted(graph):
        visit(name)


@pytest.mark.parametrize("command", [["--help"], ["list"], ["status"], ["report"]], ids=lambda words: words[0])
def test_commands_that_compute_nothing_load_no_compiler(command, tmp_path):
    looks = f"import sys; sys.argv = ['repro', *{command!r}]; from repro.cli import main\n"
    looks += "try:\n    main()\nexcept SystemExit:\n    pass\n"
    looks += "assert not {'numba', 'matplotlib', 'papermill'} & set(sys.modules), sorted(sys.modules)"
    done = subprocess.run([sys.executable, "-c", looks], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
