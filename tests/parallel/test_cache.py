"""Compiled kernels are kept, found again by the next process, and never used for other sources."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
import pytest

from repro import files
from repro.parallel import jit
from repro.parallel.inlined import fingerprint
from repro.parallel.numba_internals import cached_apart

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
from repro.parallel import Kernel, device_function, select

@device_function
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
    # an index says by its date when its kernels were last used
    return {path: path.stat().st_mtime_ns * (path.suffix != ".nbi") for path in cache.rglob("*") if path.is_file()}


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
from repro.parallel import Kernel, device_function, jit, select

@device_function
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


DAMAGES = {
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "another byte": lambda file: file.write_bytes(_with_another_byte(file.read_bytes())),
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
    "gone": lambda file: file.unlink(),
}


def _with_another_byte(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_of_a_kernel_costs_its_compilation_and_is_mended(tmp_path, monkeypatch, damage, ending):
    """LLVM ends the process over machine code that is damaged: it must not see any."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    path = tmp_path / "doubled.py"
    path.write_text("def doubled(x):\n    return 2 * x\n")

    def found_in_the_cache() -> bool:
        names = {}
        exec(compile(path.read_text(), path, "exec"), names)
        kernel = cached_apart(numba.njit(cache=True)(names["doubled"]))
        assert kernel(4) == 8
        return bool(kernel.stats.cache_hits)

    assert not found_in_the_cache()
    assert found_in_the_cache()
    (file,) = tmp_path.rglob(f"*.{ending}")
    damage(file)
    assert not found_in_the_cache()
    assert found_in_the_cache()


@pytest.fixture(params=["sources", "study"])
def copied_sources(request, tmp_path, monkeypatch):
    """A copy of the package whose digest and cache folder `jit` computes, in a checkout of any name."""
    root = tmp_path / request.param / "repro"
    shutil.copytree(ROOT / "repro", root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "__file__", str(root / "parallel/jit.py"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return root


def add(file: Path, line: str) -> None:
    file.write_text(f"{file.read_text()}\n{line}\n")


@pytest.mark.parametrize("file", ["parallel/operations.py", "parallel/loops.py"])
def test_a_change_in_what_makes_machine_code_changes_the_cache_folder_and_a_comment_does_not(copied_sources, file):
    before = jit._cache_folder()
    add(copied_sources / file, "# a comment")
    assert jit._cache_folder() == before
    add(copied_sources / file, "changed = 1")
    assert jit._cache_folder() != before


@pytest.mark.parametrize("file", ["lbm/exact.py", "dpd/forces.py", "papers/style.py", "parallel/ranks/halo.py"])
def test_a_change_of_other_sources_keeps_the_cache_folder(copied_sources, file):
    before = jit._cache_folder()
    add(copied_sources / file, "changed = 1")
    assert jit._cache_folder() == before


def test_the_caches_of_old_compilers_are_pruned(copied_sources):
    folders = []
    for version in range(6):
        add(copied_sources / "parallel/loops.py", f"version = {version}")
        folders.append(jit._cache_folder())
        os.utime(folders[-1], (version, version))
    kept = [folder for folder in folders if folder.exists()]
    assert kept == folders[-jit._KEPT_CACHES :]


def test_a_cache_that_a_process_uses_is_never_pruned(copied_sources):
    used = jit._cache_folder()
    with jit._hold(used):
        os.utime(used, (0, 0))
        for number in range(2 * jit._KEPT_CACHES):
            add(copied_sources / "parallel/loops.py", f"number = {number}")
            jit._cache_folder()
        assert used.exists()
    add(copied_sources / "parallel/loops.py", "number = -1")
    jit._cache_folder()
    assert not used.exists()


def test_the_kernels_of_a_folder_that_were_used_last_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "_KEPT_KERNELS", 2)
    folder = tmp_path / "beside"
    folder.mkdir()
    for age in range(4):
        (tmp_path / f"repro_generated_cpu_{age}.py").write_text("")
        for ending in ("loop-9.py311.nbi", "loop-9.py311.5.nbc"):
            (folder / f"repro_generated_cpu_{age}.{ending}").write_text("")
            os.utime(folder / f"repro_generated_cpu_{age}.{ending}", (1e9 - age, 1e9 - age))
    jit._prune.__wrapped__(tmp_path)
    assert {path.name.split(".")[0][-1] for path in tmp_path.rglob("*.*")} == {"0", "1"}
    assert len(list(tmp_path.rglob("*.*"))) == 2 * 3


def test_intrinsics_and_overloads_stand_where_the_folder_sees_them():
    """What the compiler takes from them is in no closure of a kernel."""
    speaking = [path for path in (ROOT / "repro").rglob("*.py") if "overload(" in path.read_text()]
    assert {path.parent.name for path in speaking} == {"parallel"}
    assert all("numba" in path.read_text() for path in speaking)


EQUATIONS = '''
"""Equations of a user, in a file of his own."""
import numpy as np

STRENGTH = 2.5
TABLE = np.array([1.0, 2.0])


def weight(r):
    return 1.0 - r


def make_force(cutoff):
    def force(r, scale=1.0):
        return scale * STRENGTH * weight(r / cutoff) * TABLE[1]

    return force


def other(r):
    return r
'''


def key_with(tmp_path, name: str, text: str) -> str:
    """The key of a kernel whose equations stand in a file outside the package."""
    (tmp_path / f"{name}.py").write_text(text)
    specification = importlib.util.spec_from_file_location(name, tmp_path / f"{name}.py")
    equations = importlib.util.module_from_spec(specification)
    with pytest.MonkeyPatch.context() as patch:
        # two texts of one length within a second would share their bytecode
        patch.setattr(sys, "dont_write_bytecode", True)
        specification.loader.exec_module(equations)

    def body(x, n, values):
        for i in range(x, x + n):
            values[i] = force(values[i]) + equations.other(values[i])

    force = equations.make_force(2.0)
    return fingerprint(body)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1.0 - r", "1.5 - r"),
        ("1.0 - r", "1.0 + r"),
        ("STRENGTH = 2.5", "STRENGTH = 2.6"),
        ("[1.0, 2.0]", "[1.0, 2.1]"),
        ("[1.0, 2.0]", "[1, 2]"),
        ("scale=1.0", "scale=1.1"),
        ("r / cutoff", "r * cutoff"),
        ("return r\n", "return -r\n"),
    ],
)
def test_a_change_of_an_equation_or_constant_changes_the_key_of_every_kernel_that_it_is_inlined_into(
    tmp_path, old, new
):
    assert EQUATIONS.count(old) == 1
    assert key_with(tmp_path, "equations", EQUATIONS) != key_with(tmp_path, "equations", EQUATIONS.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def weight(r):", "# a comment\n\ndef weight(r):  # another"),
        ("    return 1.0 - r", '    """What it is for."""\n    return 1.0 - r'),
        ("    return 1.0 - r", "    return (\n        1.0 - r\n    )"),
        ("in a file of his own", "in her file"),
        ("STRENGTH =", "UNUSED = 1\nSTRENGTH ="),
        ("def other(r):", "def more(r):\n    return 2 * r\n\ndef other(r):"),
    ],
)
def test_comments_docstrings_and_what_a_kernel_does_not_call_keep_its_key(tmp_path, old, new):
    assert EQUATIONS.count(old) == 1
    assert key_with(tmp_path, "equations", EQUATIONS) == key_with(tmp_path, "equations", EQUATIONS.replace(old, new))


def test_constants_of_a_factory_are_in_the_key_and_two_functions_alike_are_one(tmp_path):
    def make(constant):
        def body(x):
            return x * constant

        return body

    keys = [fingerprint(make(constant)) for constant in (1, 1.0, np.float32(1), np.float64(1), True, (1, 2), (1, 2.0))]
    assert len(set(keys)) == len(keys)
    assert fingerprint(make(1.0)) == fingerprint(make(1.0))
    assert fingerprint(make(make(1))) == fingerprint(make(make(1))) != fingerprint(make(make(2)))


def test_functions_that_call_each_other_have_a_key():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n > 0 and even(n - 1)

    assert fingerprint(even) != fingerprint(odd)


def test_an_unwritable_cache_folder_is_replaced_by_a_temporary_one(copied_sources, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("a file where the folder should be")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(files, "_private", files._private.__wrapped__)
    assert jit._cache_folder().is_relative_to(tmp_path / "temporary")


def test_generated_modules_are_written_once_and_follow_their_source(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
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
        del sys.modules["repro_generated_for_a_test"]
        (tmp_path / "repro_generated_for_a_test.py").write_bytes(b"\xff")
        assert jit.load_generated("for_a_test", "VALUE = 22\n").VALUE == 22
        assert [path.name for path in tmp_path.iterdir()] == ["repro_generated_for_a_test.py"]
    finally:
        sys.modules.pop("repro_generated_for_a_test", None)
