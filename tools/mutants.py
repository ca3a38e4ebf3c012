"""Do the tests notice changes that nobody has chosen? Mutations of the sources, drawn at random with a seed.

    .venv/bin/python tools/mutants.py repro/pic repro/lbm/two_fluids --seed 1 --count 15

A mutation is an operator, a comparison, a constant, an argument, a condition or a statement that becomes another one;
messages, annotations, imports and modules that draw are left alone. Each is made in a copy of the checkout, where the
tests that import its module run, up to the first that fails. Tests that do not end decide nothing. Who has doubts runs
it as a user who can write nowhere else: a mutation may remove what it should not.
"""

import ast
import importlib
import multiprocessing
import os
import random
import re
import signal
import sys
import tempfile
from collections import Counter
from functools import cache
from itertools import count as numbers
from pathlib import Path
from typing import Annotated

import pytest
import typer
from mutate import LIMIT, ROOT, copy_of
from mutation_sites import Mutation, Sites

#: modules that draw: what they show is looked at
DRAWING = re.compile(r"figure|sketch|style|camera|rasteriser")

FORK = multiprocessing.get_context("fork")

#: imported once for all runs of the tests
LIBRARIES = ("numba", "scipy.optimize", "scipy.interpolate", "pandas", "matplotlib.pyplot", "h5py", "hypothesis")

#: times of changed files, in seconds: Python takes what it has compiled earlier where a file's is the same
_times = numbers(1)


def drawn(room: str, count: int, seed: int) -> list[Mutation]:
    """Mutations of the files of a room, each place as likely as any other and no line twice."""
    chance, found, lines = random.Random(f"{seed} {room}"), [], set()
    files = [ROOT / room] if room.endswith(".py") else sorted((ROOT / room).rglob("*.py"))
    texts = {str(file.relative_to(ROOT)): file.read_bytes() for file in files if not DRAWING.search(file.stem)}
    sites = [site for name, text in texts.items() for site in Sites(name, text).sites]
    while len(found) < count and sites:
        mutation = chance.choice(sites.pop(chance.randrange(len(sites))))
        before = texts[mutation.file]
        try:
            same = ast.dump(ast.parse(mutation.applied(before))) == ast.dump(ast.parse(before))
        except SyntaxError:
            continue
        if not same and (mutation.file, mutation.line) not in lines:
            found.append(mutation)
            lines.add((mutation.file, mutation.line))
    return found


@cache
def _imports() -> dict[str, set[str]]:
    """Modules, and what may be one, that each file of the package and of the tests imports, by the file's path."""
    found = {}
    for path in [*(ROOT / "repro").rglob("*.py"), *(ROOT / "tests").rglob("test_*.py")]:
        package, names = path.relative_to(ROOT).parent.parts, set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else ()
                base = ".".join([*above, *([node.module] if node.module else [])])
                names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                # a program that is started by its name
                names.add(node.value)
        found[str(path.relative_to(ROOT))] = names
    return found


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def tests_of(file: str) -> list[str]:
    """The files of tests that import a module, or else one of those that import it, and so on.

    Those named after it come first, then those of its room, and of these the shortest.
    """
    stem, room = Path(file).stem, file.split("/")[1]

    def distance(test: str) -> tuple:
        return stem not in test, f"/{room}/" not in test, (ROOT / test).stat().st_size

    wanted, known = {file}, set()
    while wanted - known:
        modules, known = {_module(path) for path in wanted - known}, known | wanted
        wanted = {path for path, names in _imports().items() if names & modules}
        if tests := [path for path in wanted if path.startswith("tests/")]:
            return sorted(tests, key=distance)
    return []


def _run(folder: Path, tests: list[str], said: Path) -> None:
    """A child's part: the tests, in a checkout of their own."""
    os.setsid()
    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder)
    sys.path.insert(0, str(folder))
    with said.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--tb=line", *tests]))


def ran(folder: Path, tests: list[str]) -> tuple[int | None, str]:
    """The exit status of tests and what they said; None where they did not end in time."""
    said = folder / "said"
    # a child of this process has what this one has imported
    child = FORK.Process(target=_run, args=(folder, tests, said))
    child.start()
    child.join(LIMIT)
    if child.exitcode is None:
        os.killpg(child.pid, signal.SIGKILL)
        return None, ""
    return child.exitcode, said.read_text()


@cache
def passes(folder: Path, test: str) -> bool:
    """Whether a test passes where nothing is changed."""
    return ran(folder, [test])[0] == 0


def verdict(mutation: Mutation, folder: Path, most: int, also: list[str]) -> tuple[str, str]:
    """ "caught", "survived" or "undecided", and by which test or after which."""
    return _verdict(mutation, folder, [*tests_of(mutation.file)[:most], *also])


def _verdict(mutation: Mutation, folder: Path, tests: list[str]) -> tuple[str, str]:
    file = folder / mutation.file
    before = file.read_bytes()
    file.write_bytes(mutation.applied(before))
    moment = next(_times)
    os.utime(file, (moment, moment))
    status, said = ran(folder, tests)
    file.write_bytes(before)
    if status is None:
        return "undecided", " ".join(tests)
    if status == 0:
        return "survived", " ".join(tests)
    failed = re.search(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", said, re.MULTILINE)
    by = failed.group(1) if failed else tests[0]
    if passes(folder, by):
        return "caught", by
    # it says nothing, and one that cannot be imported keeps the others from running
    others = [test for test in tests if test != by.split("::")[0]]
    if 0 < len(others) < len(tests):
        return _verdict(mutation, folder, others)
    return "undecided", f"{by} fails without a change"


def main(
    rooms: Annotated[list[str], typer.Argument(help="Folders or files, as repro/pic.")],
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 1,
    count: Annotated[int, typer.Option(help="Mutations of each room.")] = 15,
    most: Annotated[int, typer.Option(help="Most files of tests that run for a mutation.")] = 6,
    also: Annotated[list[str] | None, typer.Option(help="Tests that run after these.")] = None,
    show: Annotated[bool, typer.Option(help="Only show the mutations.")] = False,
) -> None:
    """Draw mutations and say which the tests notice."""
    counts = Counter()
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory() as place:
        folder = copy_of(Path(place))
        for room in rooms:
            for mutation in drawn(room, count, seed):
                found, by = ("shown", "") if show else verdict(mutation, folder, most, also or [])
                counts[found] += 1
                old, new = mutation.lines((ROOT / mutation.file).read_bytes())
                print(f"{found:9} {mutation.file}:{mutation.line}  {old}  ->  {new}  [{by}]", flush=True)
    print(", ".join(f"{count} {found}" for found, count in counts.items()))
    raise typer.Exit(bool(counts["survived"] + counts["undecided"]))


if __name__ == "__main__":
    typer.run(main)
