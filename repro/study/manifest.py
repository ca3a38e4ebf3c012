"""Which commit a checkout is, also where it was copied to without git.

A copy brings a manifest, written where git was: the commit, and a hash of every source. It is clean as long as the
sources are those of the manifest, and no others.
"""

import subprocess
from pathlib import Path

from repro.errors import InputError
from repro.files import read_json, write_json

from .paths import Project, require_writable
from .seal import digest

SOURCES = ("repro", "notebooks", "data", "pyproject.toml", "requirements.txt")
"""What results are made from."""
RESULTS = ("notebooks/rendered", "data/measured")
"""What results become: below SOURCES, and no source."""
ENDINGS = (".py", ".ipynb", ".toml", ".csv", ".txt", ".raw", ".npy", ".tif", ".tiff", ".png")


def commit(root: Path) -> dict:
    """{"commit": ..., "dirty": ...} by git, else by the manifest; empty if neither is there."""
    try:
        return _by_git(root)
    except (OSError, subprocess.SubprocessError):
        return _by_manifest(root)


def write(project: Project) -> Path:
    """Write the manifest of a checkout; InputError if it has no git."""
    try:
        found = _by_git(project.root)
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"{project.root} is no git checkout, so nothing says which commit it is: {error}") from None
    path = place(project.root)
    require_writable(path.parent)
    write_json(path, found | {"files": {name: digest(project.root / name) for name in _files(project.root)}})
    return path


def place(root: Path) -> Path:
    """Where the manifest lies."""
    return root / "build" / "manifest.json"


def _by_git(root: Path) -> dict:
    def git(*words):
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    if not git("ls-files", "--", *SOURCES):
        raise subprocess.SubprocessError("it lies in a repository that does not know it")
    apart = [f":(exclude){folder}" for folder in RESULTS]
    changed = git("status", "--porcelain", "--untracked-files=all", "--", *SOURCES, *apart)
    return {"commit": git("rev-parse", "HEAD"), "dirty": bool(changed)}


def _by_manifest(root: Path) -> dict:
    manifest = read_json(place(root))
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        return {}
    same = {name: digest(root / name) for name in _files(root)} == manifest["files"]
    return {"commit": manifest.get("commit"), "dirty": bool(manifest.get("dirty")) or not same}


def _files(root: Path) -> list[str]:
    """Names of all sources."""
    found = [f for name in SOURCES for f in ([root / name] if (root / name).is_file() else (root / name).rglob("*"))]
    names = [f.relative_to(root).as_posix() for f in found if f.is_file() and f.suffix in ENDINGS]
    return sorted(
        name for name in names if not name.startswith(tuple(f"{folder}/" for folder in RESULTS)) and "/." not in name
    )
