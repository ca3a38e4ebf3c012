"""Looks at the machine and says what works and what to do about the rest."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import psutil

from repro.environment import Fate, counted, dropped_files, fate
from repro.errors import InputError, require
from repro.files import Lock, lock, unusable, wanted_cache
from repro.hardware import cpu_model
from repro.parallel.select import available
from repro.parallel.versions import numba_advice
from repro.study.keep import provenance
from repro.study.notebooks import Project, catalogue, require_writable
from repro.study.run.plan import require_threads

LEAST_GIB, PAPER_GIB = 4, 32
"""Memory that any run wants, and that for the largest grids of the profile paper."""


@dataclass(frozen=True)
class Check:
    """One line of the doctor."""

    name: str
    ok: bool
    text: str


def examine(project: Project | None = None) -> Iterator[Check]:
    """All checks, one after the other."""
    project = project or Project.default()
    found = provenance.versions()
    yield Check("python", True, found["python"])
    for name in ("numpy", "scipy", "numba", "matplotlib", "papermill"):
        text = found.get(name, "missing: run `make reproduce`")
        advice = numba_advice(text) if name == "numba" and name in found else ""
        yield Check(name, name in found and not advice, advice or text)
    yield Check("processor", True, f"{cpu_model()}, {provenance.cores()} cores")
    free = psutil.virtual_memory().available / 2**30
    advice = "" if free >= PAPER_GIB else f"; with less than {PAPER_GIB} the paper profile leaves the largest grids out"
    if free < LEAST_GIB:
        advice = f": runs want {LEAST_GIB}, close other programs"
    yield Check("memory", free >= LEAST_GIB, f"{free:.1f} GiB free{advice}")
    yield from _gpu(found)
    yield _tried("compiler", _compiler)
    yield _tried("device auto", available)
    yield _tried("compiled kernels", _caches)
    yield from _settings()
    checkout = _tried("catalogue", lambda: _counted(project))
    yield checkout
    if checkout.ok:
        yield _tried("results", lambda: _kept(project.build))
        yield _tried("line ends", lambda: _line_ends(project))


def _gpu(found: dict[str, str]) -> Iterator[Check]:
    card = provenance.gpu()
    if not card:
        yield Check("gpu", True, "none: everything runs on the processor")
        return
    yield Check("gpu", True, f"{card['name']}, {card['memory']}, driver {card['driver']}")
    cupy = [f"{n} {found[n]}" for n in ("cupy-cuda12x", "cupy-cuda13x") if n in found]
    fix = "CuPy is missing: pip install 'gpu-papers-repro[cuda13]' (cuda12 for older drivers)"
    yield Check("gpu packages", bool(cupy) and "numba-cuda" in found, ", ".join(cupy) or fix)
    toolkit = found.get("cuda-toolkit", "from the system (no toolkit wheels are installed)")
    yield Check("cuda toolkit", True, toolkit)


def _compiler() -> str:
    """Whether Numba's compiler for GPUs loads, without which no kernel is compiled, not even for a processor."""
    require_threads()
    try:
        import_module("numba.cuda")
    except Exception as error:  # where the CUDA runtime is missing, it is no ImportError
        raise InputError(f"{' '.join(str(error).split())}: pip install -e '.[cpu]'") from None
    return "Numba loads, with its part for GPUs"


def _tried(name: str, what: Callable[[], str]) -> Check:
    """A line that says what comes out, or what is wrong."""
    try:
        return Check(name, True, what())
    except (InputError, ImportError) as error:
        return Check(name, False, str(error))


def _caches() -> str:
    """Whether compiled kernels go where they are wanted, or another folder stands in for it."""
    wanted = wanted_cache()
    for folder in (wanted, *sorted(wanted.glob("kernels-*"))):
        why = f"{folder} is not used, {unusable(folder)}: remove it, or set NUMBA_CACHE_DIR to a folder of your own"
        require(not unusable(folder), why)
    return f"{wanted} is writable"


def _settings() -> Iterator[Check]:
    """The user's settings that a run leaves aside, and those that are a part of every result."""
    dropped = [name for name in sorted(os.environ) if fate(name) is Fate.DROPPED]
    files = [str(file) for file in dropped_files(os.environ, Path.home())]
    yield Check("environment", True, f"{Fate.DROPPED.value}: {', '.join([*dropped, *files]) or 'nothing is set'}")
    if found := counted(os.environ):
        yield Check("environment", True, f"{Fate.COUNTED.value}: {', '.join(found)}")
    yield Check("kernel", True, f"{sys.executable} runs the notebooks, whatever kernels are installed")


def _kept(folder: Path) -> str:
    """Whether results can be written and locked, asked in the nearest folder that is there."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    require_writable(there)
    with tempfile.TemporaryFile(dir=there) as file:
        locks = lock(file, wait=False)
    one = "one notebook runs at a time, and only one run may write to a folder"
    require(locks is not Lock.NONE, f"the file system of {folder} has no locks: {one}")
    return f"{folder} is writable"


def _line_ends(project: Project) -> str:
    """Whether git has put carriage returns into the files, which are sealed to the byte."""
    why = "git changed them, so that published results count as edited: git clone -c core.autocrlf=false"
    require(b"\r\n" not in (project.notebooks / "catalogue.toml").read_bytes(), why)
    return "as they were committed"


def _counted(project: Project) -> str:
    books = catalogue.load(project).notebooks
    catalogue.require_files(books, project)
    return f"{len(books)} notebooks"
