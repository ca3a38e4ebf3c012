"""How a formula is compiled: once, into whatever calls it.

`inline` marks an equation. It stays plain Python for readers and tests, and is compiled into the serial loop, the
threaded loop or the CUDA kernel that calls it.
"""

import hashlib
import importlib.util
import itertools
import os
import shutil
import sys
import tempfile
import uuid
from pathlib import Path

import numba
from llvmlite import __version__ as llvm_version
from numba.core.bytecode import FunctionIdentity
from numba.extending import register_jitable
from platformdirs import user_cache_dir

inline = register_jitable

_KEPT_CACHES = 4
_PROCESS = uuid.uuid4().hex[:12]

# numba names what it compiles by a number that every process counts from 1 on. Of two kernels with arguments of the
# same types, one from the cache and one compiled now, that got the same number, one would run in place of the other.
FunctionIdentity._unique_ids = itertools.count(int(_PROCESS, 16))


def _source_digest() -> str:
    """Hash of the package's sources: numba's own key does not see a change in an imported equation."""
    digest = hashlib.sha256(f"{numba.__version__} {llvm_version} {sys.version}".encode())
    root = Path(__file__).resolve().parent.parent
    for path in sorted(root.rglob("*.py")):
        if "study" not in path.parts:
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
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_dir("gpu-papers-repro"))
    if not _writable(base):
        base = Path(tempfile.gettempdir()) / "gpu-papers-repro"
    folder = base / f"kernels-{_source_digest()}"
    if not folder.exists():
        stale = sorted(base.glob("kernels-*"), key=lambda path: path.stat().st_mtime)[: -_KEPT_CACHES + 1]
        for path in stale:
            shutil.rmtree(path, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


CACHE_FOLDER = _cache_folder()
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


def cached_apart(dispatcher):
    """Let the files in which numba caches `dispatcher` carry this process's name; returns the dispatcher.

    numba numbers them by an index that it reads and writes without a lock: of two kernels that two processes compile
    at once, one would find the other's machine code, and compute something else.
    """
    files = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if files is not None:
        files._data_name_pattern = files._data_name_pattern.replace("{number:d}", _PROCESS + ".{number:d}")
    return dispatcher
