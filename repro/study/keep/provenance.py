"""Where a number comes from: commit, versions, machine. No paths, host names or user names.

A copy without git brings a manifest, written where git was: the commit, and a hash of every source. It is clean as long
as the sources are those of the manifest, and no others.
"""

import os
import platform
import re
import subprocess
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

import psutil

from repro.errors import InputError
from repro.files import read_json, write_json
from repro.hardware import cores, cpu_model
from repro.study.keep.results import digest
from repro.study.notebooks import Project, require_writable, slug

CUDA = ("numba-cuda", "cupy-cuda12x", "cupy-cuda13x", "cuda-toolkit")
PACKAGES = ("numpy", "scipy", "numba", *CUDA, "matplotlib", "papermill")


@cache
def gpu() -> dict:
    """Name, memory and driver of the NVIDIA GPU that a run takes, the first that it sees; empty where there is none."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").partition(",")[0].strip()
    # a part of a GPU has no name of its own
    card = first if re.fullmatch(r"\d+|GPU-[\w-]+", first) else "0"
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader", f"--id={card}"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    parts = [part.strip() for part in answer.splitlines()[0].split(",")] if answer.strip() else []
    return dict(zip(("name", "memory", "driver"), parts, strict=True)) if len(parts) == 3 else {}


def machine_name(device: str) -> str:
    """Folder name of this machine: its GPU, else its processor and cores."""
    if device == "cuda":
        return slug(gpu().get("name") or "cuda-gpu")
    model = re.sub(r"\(.*?\)|@.*|\b(CPU|Processor|\d+-Core)\b", " ", cpu_model())
    return slug(f"{model} {cores()} cores")


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def collect(root: Path) -> dict:
    """Everything about the code and the machine."""
    return {
        **commit(root),
        "versions": versions(),
        "cpu": cpu_model(),
        "cores": cores(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpu": gpu(),
        "os": f"{platform.system()} {platform.machine()}",
    }


SOURCES = ("repro", "notebooks", "data", "pyproject.toml", "requirements.txt")
"""What results are made from."""
RESULTS = ("notebooks/rendered", "data/measured")
"""What results become: below SOURCES, and no source."""
ENDINGS = (".py", ".ipynb", ".toml", ".csv", ".txt", ".raw", ".npy", ".tif", ".tiff", ".png")


def commit(root: Path) -> dict:
    """{"commit": ..., "dirty": ...} by git, else by the manifest; empty if neither is there.

    A copy may have the git of an older commit: a manifest whose sources are those at hand knows better.
    """
    try:
        found = _by_git(root)
    except (OSError, subprocess.SubprocessError):
        return _by_manifest(root)
    by_manifest = _by_manifest(root) if found["dirty"] else {}
    return by_manifest if by_manifest.get("dirty") is False else found


def write_manifest(project: Project) -> Path:
    """Write the manifest of a checkout; InputError if it has no git."""
    try:
        found = _by_git(project.root)
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"{project.root} is no git checkout, so nothing says which commit it is: {error}") from None
    path = manifest_file(project.root)
    require_writable(path.parent)
    write_json(path, found | {"files": {name: digest(project.root / name) for name in _files(project.root)}})
    return path


def manifest_file(root: Path) -> Path:
    """Where the manifest lies."""
    return root / "build" / "manifest.json"


def _by_git(root: Path) -> dict:

    def git(*words: str) -> str:
        # of this folder, whatever repository, index or settings the environment names for another one
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True, env=own)
        return done.stdout.strip()

    if not git("ls-files", "--", *SOURCES):
        raise subprocess.SubprocessError("it lies in a repository that does not know it")
    apart = [f":(exclude){folder}" for folder in RESULTS]
    changed = git("status", "--porcelain", "--untracked-files=all", "--", *SOURCES, *apart)
    return {"commit": git("rev-parse", "HEAD"), "dirty": bool(changed)}


def _by_manifest(root: Path) -> dict:
    manifest = read_json(manifest_file(root))
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
