"""How a formula is compiled: once, into whatever calls it.

`inline` marks an equation. It stays plain Python for readers and tests, and is compiled into the serial loop, the
threaded loop or the CUDA kernel that calls it.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

import numba
from llvmlite import __version__ as llvm_version
from numba.extending import register_jitable

from repro.files import cache_folder

from .numba_internals import name_apart

# nobody calls what has been compiled but kernels, into which it is inlined: no wrappers for Python and C
inline = register_jitable(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)

_KEPT_CACHES = 4

#: file in a folder of kernels that every process which uses them holds a lock of
_USED = ".used"

#: rooms whose sources end up in kernels; in `papers` it is those files that have a formula of their own
_ROOMS = ("parallel", "particles", "lbm", "dpd", "sph", "pic")

name_apart()


def _kernel_sources(package: Path) -> list[Path]:
    """The sources that a kernel may come from."""
    files = [path for room in _ROOMS for path in (package / room).rglob("*.py")]
    own = [path for path in (package / "papers").rglob("*.py") if "inline" in path.read_text(encoding="utf-8")]
    return sorted(files + own)


def _source_digest() -> str:
    """Hash of the sources: numba's own key does not see a change in an imported equation."""
    digest = hashlib.sha256(f"{numba.__version__} {llvm_version} {sys.version}".encode())
    package = Path(__file__).resolve().parent.parent
    for path in _kernel_sources(package):
        digest.update(f"\0{path.relative_to(package).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _cache_folder() -> Path:
    """The folder of compiled kernels, one per state of the sources; the oldest are pruned."""
    base = cache_folder()
    if not _writable(base):
        base = Path(tempfile.gettempdir()) / "gpu-papers-repro"
    folder = base / f"kernels-{_source_digest()}"
    if not folder.exists():
        stale = sorted(base.glob("kernels-*"), key=lambda path: path.stat().st_mtime)[: -_KEPT_CACHES + 1]
        for path in stale:
            if not _in_use(path):
                shutil.rmtree(path, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _hold(folder: Path) -> IO:
    """Say that this process uses the folder, as long as the file that is returned is open."""
    file = (folder / _USED).open("a")
    # on a file system without locks nothing is pruned either
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_SH)
    return file


def _in_use(folder: Path) -> bool:
    try:
        with open(folder / _USED, "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


CACHE_FOLDER = _cache_folder()
_HELD = _hold(CACHE_FOLDER)
numba.config.CACHE_DIR = str(CACHE_FOLDER)


def load_generated(name: str, source: str):
    """Import `source` as module `name` from a file in the cache folder, where numba can cache what it compiles."""
    name = f"repro_generated_{name}"
    if name in sys.modules:
        return sys.modules[name]
    path = CACHE_FOLDER / f"{name}.py"
    if not path.exists() or path.read_text() != source:
        handle, temporary = tempfile.mkstemp(dir=CACHE_FOLDER, suffix=".py")
        with os.fdopen(handle, "w") as file:
            file.write(source)
        os.replace(temporary, path)
    spec = importlib.util.spec_from_file_location(name, path)
    # numba looks the module up by name when it loads what it cached
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
