"""What is patched in numba does what is said of it, and another version of numba is left alone."""

import itertools
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary, JITCPUCodegen
from packaging.requirements import Requirement

from repro.parallel import CpuDevice, Kernel, device_function, numba_internals, select
from repro.parallel.versions import KNOWN, numba_advice

ROOT = Path(__file__).resolve().parent.parent.parent

PATCHED = (
    (JITCodeLibrary, "get_pointer_to_function"),
    (JITCodeLibrary, "_finalize_specific"),
    (JITCPUCodegen, "_add_module"),
    (JITCPUCodegen, "set_env"),
    (CPUCodeLibrary, "_optimize_final_module"),
)


def doubling():
    """A kernel that calls an equation; new ones each time, so that nothing is compiled yet, and nothing is on disk."""
    mark = uuid.uuid4().int % 2**31

    @device_function
    def twice(value):
        return value + value + 0 * mark

    @device_function
    def body(x, n, values):
        for i in range(x, x + n):
            values[i] = twice(values[i])

    return body


def test_the_installed_numba_is_a_version_that_has_been_looked_at():
    assert numba_internals.UNDERSTOOD, f"look at numba {numba.__version__}, then add it to versions.KNOWN"


def test_no_version_can_be_installed_that_has_not_been_looked_at():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (wanted,) = [r.specifier for r in map(Requirement, project["dependencies"]) if r.name == "numba"]
    tried = [f"0.{minor}.{patch}" for minor in range(60, 90) for patch in range(9)]
    assert list(wanted.filter(tried)) == [version for version in tried if version.startswith(KNOWN)]
    assert numba_advice("0.68.1") == ""
    assert numba_advice("0.69.0") == (
        "numba 0.69.0 is not 0.68.*: every start compiles its kernels anew (pip install 'numba==0.68.*')"
    )


def test_the_places_that_are_patched_are_there():
    assert isinstance(FunctionIdentity._unique_ids, itertools.count)
    for owner, name in PATCHED:
        assert callable(getattr(owner, name))
    dispatcher = numba.njit(cache=True)(_plain)
    files = dispatcher._cache._cache_file
    assert files._index_name == files._data_name_pattern.replace("{number:d}.nbc", "nbi")
    assert dispatcher._cache._py_func is _plain


def _plain(x):
    return x


@pytest.mark.parametrize("device", [select("serial"), CpuDevice("threads", workers=2)], ids=["serial", "threads"])
def test_only_what_runs_is_optimised_and_gets_machine_code_and_numba_is_as_before_afterwards(device, monkeypatch):
    made, optimised = [], []
    optimise = CPUCodeLibrary._optimize_final_module
    monkeypatch.setattr(
        CPUCodeLibrary, "_optimize_final_module", lambda self: optimised.append(self.name) or optimise(self)
    )
    finish = JITCodeLibrary._finalize_specific
    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", lambda self: made.append(self.name) or finish(self))
    before = [getattr(owner, name) for owner, name in PATCHED]
    values = np.arange(8.0)
    device.compile(Kernel(doubling()))((8,), values)()
    assert (values == 2 * np.arange(8.0)).all()
    assert any("loop" in name for name in made)
    assert any("loop" in name for name in optimised)
    assert not [name for name in (*made, *optimised) if "twice" in name or "body" in name]
    assert [getattr(owner, name) for owner, name in PATCHED] == before


def test_an_equation_that_a_kernel_has_inlined_can_still_be_called_from_a_function_of_ones_own():
    body = doubling()
    values = np.ones(4)
    select("serial").compile(Kernel(body))((4,), values)()

    @numba.njit
    def own(values):
        body(0, 4, values)
        return values[3]

    assert own(values) == 4


def test_another_version_of_numba_is_used_as_it_is_nothing_is_kept_on_disk_and_a_line_says_so(tmp_path):
    script = (
        "import numba; numba.__version__ = '9.9.9'\n"
        "import numpy as np\n"
        "from repro.parallel import Kernel, device_function, numba_internals, select\n"
        "assert not numba_internals.UNDERSTOOD\n"
        "@device_function\n"
        "def double(x, n, values):\n"
        "    for i in range(x, x + n):\n"
        "        values[i] *= 2\n"
        "values = np.ones(8)\n"
        "for name in ('serial', 'threads'):\n"
        "    select(name).compile(Kernel(double))((8,), values)()\n"
        "assert (values == 4).all()\n"
    )
    path = tmp_path / "other.py"
    path.write_text(script)
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path), "PATH": ""}
    done = subprocess.run([sys.executable, str(path)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "cache").rglob("*.nbc"))
    assert done.stderr.splitlines() == [numba_advice("9.9.9")]


def test_a_kernel_whose_module_cannot_be_imported_again_is_compiled_anew():
    def load(signature, target):
        raise ModuleNotFoundError("No module named '<dynamic>'")

    assert numba_internals._load_or_compile(load, (), None) is None
    assert numba_internals._load_or_compile(lambda signature, target: "kept", (), None) == "kept"
