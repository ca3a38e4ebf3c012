"""Looks at the machine and says what works and what to do about the rest."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import psutil

from repro.errors import InputError
from repro.files import cache_folder
from repro.hardware import cpu_model
from repro.parallel.versions import numba_advice
from repro.study.keep import provenance
from repro.study.notebooks import Project, catalogue, require_writable

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
    python = sys.version_info >= (3, 11)
    yield Check("python", python, found["python"] + ("" if python else ": 3.11 or newer is needed"))
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
    yield _compiler()
    yield _tried("device auto", lambda: provenance.resolve_device("auto"))
    yield _tried("results", lambda: _writable(project.build))
    yield _tried("compiled kernels", lambda: _writable(cache_folder(), advice="set NUMBA_CACHE_DIR to another folder"))
    yield _tried("catalogue", lambda: _counted(project))


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


def _compiler() -> Check:
    """Whether Numba's compiler for GPUs loads, without which no kernel is compiled, not even for a processor."""
    try:
        import_module("numba.cuda")
    except Exception as error:  # where the CUDA runtime is missing, it is no ImportError
        return Check("compiler", False, f"{' '.join(str(error).split())}: pip install -e '.[cpu]'")
    return Check("compiler", True, "Numba loads, with its part for GPUs")


def _tried(name: str, what: Callable[[], str]) -> Check:
    """A line that says what comes out, or what is wrong."""
    try:
        return Check(name, True, what())
    except (InputError, ImportError) as error:
        return Check(name, False, str(error))


def _writable(folder: Path, **advice: str) -> str:
    require_writable(folder, **advice)
    return f"{folder} is writable"


def _counted(project: Project) -> str:
    books = catalogue.load(project).notebooks
    catalogue.require_files(books, project)
    return f"{len(books)} notebooks"
