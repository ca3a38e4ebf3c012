"""Copies of the checkout, and what Python does in them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = [".git", *(line.strip("/") for line in (ROOT / ".gitignore").read_text().split())]
"""What a clone does not have."""


def copy(target: Path, without: tuple[str, ...] = ()) -> Path:
    """Copy the checkout to the folder `target`, without the folders named from its top; returns the copy."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        here = Path(folder).relative_to(ROOT)
        named = {name for name in names if (here / name).as_posix() in without}
        return named | shutil.ignore_patterns(*MADE)(folder, names)

    return Path(shutil.copytree(ROOT, target, ignore=left_out))


def python(checkout: Path, *words: str) -> str:
    """What Python prints for a command in a copy; AssertionError with all of it where the command fails."""
    # neither the run, the commit nor the simulator, with which these tests may run, is theirs
    ours = ("REPRO_", "GIT_", "NUMBA_", "PYTEST_")
    mine = {k: v for k, v in os.environ.items() if not k.startswith(ours)} | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=checkout, env=mine, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
