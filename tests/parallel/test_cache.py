"""Compiled kernels are kept, found again by the next process, and never used for other sources."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from repro.parallel import jit

ROOT = Path(jit.__file__).resolve().parent.parent.parent

SCRIPT = """
import numpy as np
from repro.lbm.boundaries import PERIODIC_BOX
from repro.lbm.lattice import D2Q9
from repro.lbm.model import Model, Problem
from repro.lbm.simulation import Simulation
from repro.parallel import select
problem = Problem(Model(D2Q9, PERIODIC_BOX), (8, 8, 1), relaxation_time=0.8)
Simulation(problem, select("threads"), strategy="push").step(2)
"""


KERNEL = """
import numpy as np
from repro.parallel import Kernel, inline, select

@inline
def double(x, n, values):
    for lane in range(n):
        values[x + lane] *= 2

select("serial").compile(Kernel(double))((4,), np.ones(4))()
"""


ROUNDS = """
from repro.papers.dpd.random_numbers.quality import pair_numbers
from repro.parallel import select
rounds = {rounds}
found = [float(pair_numbers(select("serial"), k, 1, 3, 5)) for k in rounds]
assert len(set(found)) == len(rounds), found
"""


def run_process(cache: Path, script: str = SCRIPT):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}


def test_a_second_process_finds_the_compiled_kernels(tmp_path):
    first = run_process(tmp_path)
    assert any(path.suffix == ".nbc" for path in first)
    assert run_process(tmp_path) == first


def test_processes_that_compile_at_once_never_write_the_same_file(tmp_path):
    first = run_process(tmp_path, KERNEL)
    for index in tmp_path.rglob("*.nbi"):
        index.unlink()  # a process that compiles at the same time has not seen it
    second = run_process(tmp_path, KERNEL)
    machine_code = {path for path in first if path.suffix == ".nbc"}
    assert machine_code
    assert all(second[path] == first[path] for path in machine_code)
    assert any(path.suffix == ".nbc" for path in second.keys() - machine_code)


def test_a_cached_kernel_and_a_new_one_of_the_same_signature_keep_apart(tmp_path):
    run_process(tmp_path, ROUNDS.format(rounds="[4]"))
    # compiles one round as its first kernel, as the other process did four rounds, which it takes from the cache
    assert run_process(tmp_path, ROUNDS.format(rounds="[1, 4]"))


TWICE = """
import os
from pathlib import Path
import numpy as np
from repro.parallel import Kernel, inline, jit, select

@inline
def double(x, n, values):
    for lane in range(n):
        values[x + lane] *= 2

def double_some(real):
    select("serial").compile(Kernel(double))((4,), np.ones(4, real))()
    return {path: path.read_bytes() for path in Path(jit.CACHE_FOLDER).rglob("*.nbc")}

first = double_some(np.float32)
# another process that compiles at the same time may write an index that lacks this kernel, or one that has it still
for index in Path(jit.CACHE_FOLDER).rglob("*.nbi"):
    index.unlink()
if FORKS:
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
second = double_some(np.float64)
assert len(second) > len(first) > 0
assert all(second[path] == content for path, content in first.items())
"""


@pytest.mark.parametrize("forks", [False, True])
def test_a_file_of_machine_code_is_never_written_again_with_another_kernel(tmp_path, forks):
    run_process(tmp_path, TWICE.replace("FORKS", str(forks)))


@pytest.fixture(params=["sources", "study"])
def copied_sources(request, tmp_path, monkeypatch):
    """A copy of the package whose digest and cache folder `jit` computes, in a checkout of any name."""
    root = tmp_path / request.param / "repro"
    shutil.copytree(ROOT / "repro", root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "__file__", str(root / "parallel/jit.py"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return root


@pytest.mark.parametrize(
    "file", ["lbm/collision.py", "dpd/forces.py", "particles/cells.py", "papers/dpd/random_numbers/quality.py"]
)
def test_a_changed_equation_changes_the_cache_folder(copied_sources, file):
    before = jit._cache_folder()
    assert jit._cache_folder() == before
    equation = copied_sources / file
    equation.write_text(equation.read_text() + "\n# changed\n")
    assert jit._cache_folder() != before


def test_an_equation_that_moves_to_another_file_changes_the_cache_folder(copied_sources):
    before = jit._cache_folder()
    (copied_sources / "lbm/forcing.py").rename(copied_sources / "lbm/zforcing.py")
    assert jit._cache_folder() != before


@pytest.mark.parametrize("file", ["study/show/html.py", "papers/style.py", "papers/swap/figures.py", "cli.py"])
def test_a_change_that_no_kernel_can_see_keeps_the_cache_folder(copied_sources, file):
    before = jit._cache_folder()
    page = copied_sources / file
    page.write_text(page.read_text() + "\n# changed\n")
    assert jit._cache_folder() == before


def test_the_caches_of_old_sources_are_pruned(copied_sources):
    equation = copied_sources / "lbm/forcing.py"
    folders = []
    for version in range(6):
        equation.write_text(f"VERSION = {version}\n")
        folders.append(jit._cache_folder())
        os.utime(folders[-1], (version, version))
    kept = [folder for folder in folders if folder.exists()]
    assert kept == folders[-jit._KEPT_CACHES :]


def test_a_cache_that_a_process_uses_is_never_pruned(copied_sources):
    used = jit._cache_folder()
    with jit._hold(used):
        os.utime(used, (0, 0))
        for number in range(2 * jit._KEPT_CACHES):
            (copied_sources / "lbm/edited.py").write_text(f"number = {number}")
            jit._cache_folder()
        assert used.exists()
    (copied_sources / "lbm/edited.py").write_text("number = -1")
    jit._cache_folder()
    assert not used.exists()


def test_an_unwritable_cache_folder_is_replaced_by_a_temporary_one(copied_sources, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("a file where the folder should be")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    assert jit._cache_folder().is_relative_to(tmp_path / "temporary")


def test_generated_modules_are_written_once_and_follow_their_source(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "CACHE_FOLDER", tmp_path)
    first = jit.load_generated("for_a_test", "VALUE = 1\n")
    try:
        assert jit.load_generated("for_a_test", "VALUE = 1\n") is first
        written = (tmp_path / "repro_generated_for_a_test.py").stat().st_mtime_ns
        del sys.modules["repro_generated_for_a_test"]
        assert jit.load_generated("for_a_test", "VALUE = 1\n").VALUE == 1
        assert (tmp_path / "repro_generated_for_a_test.py").stat().st_mtime_ns == written
        del sys.modules["repro_generated_for_a_test"]
        assert jit.load_generated("for_a_test", "VALUE = 22\n").VALUE == 22
    finally:
        sys.modules.pop("repro_generated_for_a_test", None)
