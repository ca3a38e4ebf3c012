"""How a formula is compiled: once, into whatever calls it.

`device_function` marks an equation. It stays plain Python for readers and tests, and is compiled into what calls it:
the serial loop, the threaded loop or the CUDA kernel.
"""

import hashlib
import importlib.util
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import IO

import numba
from llvmlite import __version__ as llvm_version
from numba.extending import register_jitable

from repro.files import Lock, cache_folder, is_regular, lock, write_text
from repro.source_code import code_hash

from .inlined import GENERATED, fingerprint
from .numba_internals import name_apart

# nobody calls what has been compiled but kernels, into which it is inlined: no wrappers for Python and C
device_function = register_jitable(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)

_KEPT_CACHES = 4

#: file in a folder of kernels that every process which uses them holds a lock of
_USED = ".used"

#: kernels of one compiler that are kept, those used last
_KEPT_KERNELS = 4000

name_apart()


def _compiler_digest() -> str:
    """Hash of what makes machine code of all kernels: numba, and the sources of this room that tell it how.

    The equations of each kernel stand in the name of its module, see `generated`.
    """
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).resolve().parent.glob("*.py"))]
    code = [code_hash(text) for text in texts if "numba" in text]
    return hashlib.sha256(f"{numba.__version__} {llvm_version} {sys.version} {code}".encode()).hexdigest()[:16]


def _cache_folder() -> Path:
    """The folder of compiled kernels, one for each compiler; the oldest are pruned."""
    base, name = cache_folder(), f"kernels-{_compiler_digest()}"
    if not (base / name).exists():
        stale = sorted(base.glob("kernels-*"), key=lambda path: path.stat().st_mtime)[: -_KEPT_CACHES + 1]
        for path in stale:
            if not _in_use(path):
                shutil.rmtree(path, ignore_errors=True)
    return cache_folder(name)


def _hold(folder: Path) -> IO:
    """Say that this process uses the folder, as long as the file that is returned is open."""
    file = (folder / _USED).open("a+")
    lock(file, shared=True)
    return file


def _in_use(folder: Path) -> bool:
    try:
        with open(folder / _USED, "a+") as file:
            # without locks nobody knows, and nothing is pruned
            return lock(file, wait=False) is not Lock.HELD
    except OSError:
        return True


CACHE_FOLDER = _cache_folder()
_HELD = _hold(CACHE_FOLDER)
numba.config.CACHE_DIR = str(CACHE_FOLDER)


@cache
def _prune(folder: Path) -> None:
    """Remove the kernels of a folder that have not been used for longest, once in a process that makes new ones."""
    last_used = sorted(folder.rglob("*.nbi"), key=lambda index: index.stat().st_mtime, reverse=True)
    for index in last_used[_KEPT_KERNELS:]:
        name = index.name.partition(".")[0]
        for file in (folder / f"{name}.py", *index.parent.glob(f"{name}.*")):
            file.unlink(missing_ok=True)


def generated(kind: str, source: str, *values):
    """The module of a source that is filled with `values`, a kernel's body and constants; its name tells them all.

    numba's own key of a cached function does not see a change in an equation that the body calls, and sees one of the
    comments around it.
    """
    name = hashlib.sha256(f"{source} {fingerprint(*values)}".encode()).hexdigest()[:16]
    return load_generated(f"{kind}_{name}", source)


def load_generated(name: str, source: str):
    """Import `source` as module `name` from a file in the cache folder, where numba can cache what it compiles."""
    name = GENERATED + name
    if name in sys.modules:
        return sys.modules[name]
    path = CACHE_FOLDER / f"{name}.py"
    if not is_regular(path) or path.read_bytes() != source.encode():
        _prune(CACHE_FOLDER)
        write_text(path, source)
    spec = importlib.util.spec_from_file_location(name, path)
    # numba looks the module up by name when it loads what it cached
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    # without a .pyc, which a full disk or a power cut would leave damaged
    exec(compile(source, path, "exec"), module.__dict__)
    return module
