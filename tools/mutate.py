"""Do the tests notice? Changes one line of the sources at a time and runs the tests that should fail.

    .venv/bin/python tools/mutate.py [--only WORD] [--jobs 2] [--list FILE]

The changes stand in tools/mutations*.toml. Each is made in a copy of the checkout, never in the checkout itself. Exit
status 1 unless all are caught: one survives, or its tests did not end and say nothing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).resolve().parent.parent

#: most seconds of the tests of one change: those that run longer may hang, or the machine may be busy
LIMIT = 900


def copy_of(folder: Path) -> Path:
    """A copy of the sources and tests."""
    for name in ("repro", "tests", "data", "notebooks", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "rendered"))
    for name in ("README.md", "pyproject.toml", "requirements.txt", "environment.yml"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def changes_of(lists: list[Path]) -> list[dict]:
    """The changes of all lists, each with the words that run its tests."""
    contents = [tomllib.loads(file.read_text()) for file in lists]
    return [c | {"words": content["tests"][c["tests"]]} for content in contents for c in content["change"]]


def verdict(change: dict) -> tuple[str, float]:
    """ "caught", "survived", "undecided" or what is wrong with the change, and the seconds that took."""
    start = time.time()
    with tempfile.TemporaryDirectory() as place:
        folder = copy_of(Path(place))
        file = folder / change["file"]
        text = file.read_text()
        if text.count(change["find"]) != 1:
            return f"stands {text.count(change['find'])} times in {change['file']}", 0.0
        file.write_text(text.replace(change["find"], change["replace"]))
        # compiled kernels are shared: a kernel's name holds what it is made from, so a changed one is compiled anew
        environment = os.environ | {"PYTHONPATH": place}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *change["words"]]
        try:
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return "undecided", time.time() - start
    if done.returncode > 1:
        return f"tests did not run: {done.stdout.splitlines()[-1:]}", time.time() - start
    # a crash is noticed too
    return "caught" if done.returncode else "survived", time.time() - start


def unchanged(change: dict) -> tuple[str, float]:
    """The verdict on no change at all, which the tests of a group must let pass."""
    return verdict(change | {"replace": change["find"]})


def main(
    only: Annotated[str, typer.Option(help="Only changes whose file or line holds this.")] = "",
    jobs: Annotated[int, typer.Option(help="Changes tried at once.")] = 2,
    lists: Annotated[list[Path] | None, typer.Option("--list", help="Only changes of this list, or these.")] = None,
) -> None:
    """Make each change and say whether the tests notice."""
    listed = changes_of(lists or sorted((ROOT / "tools").glob("mutations*.toml")))
    changes = [c for c in listed if only in c["file"] + c["find"] + c["replace"]]
    counts = Counter()
    with ThreadPoolExecutor(jobs) as pool:
        groups = list({tuple(change["words"]): change for change in changes}.values())
        for change, (found, seconds) in zip(groups, pool.map(unchanged, groups), strict=True):
            if found != "survived":
                raise typer.BadParameter(f"the tests '{change['tests']}' do not pass without a change: {found}")
            print(f"passes    {seconds:4.0f} s  {change['tests']}: the sources as they are", flush=True)
        for change, (found, seconds) in zip(changes, pool.map(verdict, changes), strict=True):
            counts[found] += 1
            line = f"{change['find'].strip()}  ->  {change['replace'].strip()}"
            print(f"{found:9} {seconds:4.0f} s  {change['file']}: {line}", flush=True)
    print(f"{counts['caught']} of {len(changes)} caught, {counts['undecided']} undecided")
    raise typer.Exit(counts["caught"] < len(changes))


if __name__ == "__main__":
    typer.run(main)
