"""All that reaches into numba, for the versions that have been looked at.

Four things that numba does not offer: names of compiled functions that no two processes share, cache files that nobody
writes twice, and neither machine code nor an optimisation of their own for functions that are only ever inlined into
a kernel. With another version of numba, kernels are compiled as numba does it and kept on no disk, and a line says so:
slower, and right.
"""

import gc
import hashlib
import itertools
import logging
import os
import pickle
import uuid
import weakref
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path

import numba

from repro.files import is_regular

from .versions import KNOWN, numba_advice

#: whether its internals are as expected here (see tests/parallel/test_numba_internals.py)
UNDERSTOOD = numba.__version__.startswith(KNOWN)

if not UNDERSTOOD:
    logging.getLogger(__name__).warning(numba_advice(numba.__version__))

_HASH = hashlib.sha256().digest_size

_process = uuid.uuid4().hex[:12]

#: of the cache files that this process has written
_written = itertools.count(1)


def name_apart() -> None:
    """Let no two processes give two functions the same name, those included that this one forks.

    numba names what it compiles by a number that every process counts from 1 on. Of two kernels with arguments of the
    same types, one from the cache and one compiled now, that got the same number, one would run in place of the other.
    """
    if UNDERSTOOD:
        from numba.core.bytecode import FunctionIdentity

        FunctionIdentity._unique_ids = itertools.count(int(_process, 16))


def _rename() -> None:
    """A forked process has its parent's name: give it one of its own."""
    global _process
    _process = uuid.uuid4().hex[:12]
    name_apart()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_rename)


def cached_apart(dispatcher):
    """Let each file in which numba caches `dispatcher` have a name of its own; returns the dispatcher.

    The name of the dispatcher's module tells all that it is made from (see `jit.generated`), and so numba need not look
    at its closure. numba numbers the files by an index that it reads and writes without a lock, so that processes lose
    what others have added: a kernel would get the number of one that another index still names, which would then find
    its machine code, and compute something else.
    """
    kept = getattr(dispatcher, "_cache", None)
    files = getattr(kept, "_cache_file", None)
    if files is not None:
        # numba's key has the bytes of this function, and of its closure if it has one: the name tells all
        kept._py_func = lambda: None
        kept.load_overload = partial(_load_or_compile, kept.load_overload)
        # numba has a class for a CPU's files, and another one for a GPU's
        files.__class__ = type("WholeFiles", (_WholeFiles, type(files)), {})
        # what was used last is kept longest
        with suppress(OSError):
            os.utime(files._index_path)
    return dispatcher


def _load_or_compile(load, signature, target):
    """What the cache has, or None: a law's module that was loaded from a path cannot be imported by its name again."""
    try:
        return load(signature, target)
    except ImportError:
        return None


def _require_whole(path: str, begin: int = 0) -> None:
    """Raise OSError for a file that is not as it was written, from the byte `begin` on."""
    content = Path(path).read_bytes() if is_regular(Path(path)) else b""
    if hashlib.sha256(content[begin:-_HASH]).digest() != content[-_HASH:]:
        raise OSError(f"{path} is damaged")


class _WholeFiles:
    """What numba's class for cache files does otherwise here."""

    def _dump(self, content) -> bytes:
        # who unpickles it does not read the hash behind it
        data = super()._dump(content)
        return data + hashlib.sha256(data).digest()

    def _load_index(self) -> dict:
        try:
            _require_whole(self._index_path, len(pickle.dumps(self._version, protocol=-1)))
            return super()._load_index()
        except OSError:
            # a full disk or a power cut has left it: the next one is written over it
            return {}

    def _load_data(self, name: str):
        # with an OSError numba compiles anew, where LLVM would end the process over damaged code
        _require_whole(self._data_path(name))
        return super()._load_data(name)

    def _data_name(self, number: int) -> str:
        return f"{self._index_name.removesuffix('.nbi')}.{_process}.{next(_written)}.nbc"


def compiled(dispatcher, signature: tuple):
    """Compile a function of a CPU for the types of its arguments; returns the address of its machine code."""
    kernel = dispatcher.py_func.__qualname__
    with _of_the_kernel_alone(kernel) if UNDERSTOOD else nullcontext(), _no_garbage_collection():
        dispatcher.compile(signature)
        result = dispatcher.overloads[signature]
        return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)


@contextmanager
def _no_garbage_collection():
    """While it lasts, Python looks for no circles of objects, which costs a compiler an eighth of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _of_the_kernel_alone(kernel: str):
    """While it lasts, numba optimises only the function of this qualified name, and makes machine code on demand.

    Otherwise it makes machine code of a function when it is linked, and so of every equation that a kernel calls, of
    which only the kernel's own code is ever run. And LLVM optimises every equation, then whatever calls it with the
    equation in it, and so on up to the kernel: twice the time, and rows that are half as fast on all cores. One round
    leaves loops over a single item slow.
    """
    from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary, JITCPUCodegen
    from numba.core.compiler_lock import global_compiler_lock

    waiting = weakref.WeakSet()

    def wait(library):
        waiting.add(library)

    def make(library, name):
        library._ensure_finalized()
        if library in waiting:
            if library._compiled_object is None and not _defines(library, name):
                return 0
            waiting.discard(library)
            if cleanup := add(library._codegen, library._final_module):
                weakref.finalize(library, cleanup)
            finish(library)
        return pointer(library, name)

    def set_if_made(codegen, name, environment):
        if codegen._engine.is_symbol_defined(name):
            set_env(codegen, name, environment)

    def optimise_kernel(library):
        if library.name == kernel:
            # each finds what the one before has uncovered; a fourth gains nothing
            for _ in range(3):
                optimise(library)

    own = {
        (JITCodeLibrary, "get_pointer_to_function"): make,
        (JITCodeLibrary, "_finalize_specific"): wait,
        (JITCPUCodegen, "_add_module"): lambda codegen, module: None,
        (JITCPUCodegen, "set_env"): set_if_made,
        (CPUCodeLibrary, "_optimize_final_module"): optimise_kernel,
    }
    with global_compiler_lock:
        pointer, finish, add, set_env, optimise = before = [getattr(*place) for place in own]
        try:
            for place, function in own.items():
                setattr(*place, function)
            yield
        finally:
            for place, function in zip(own, before, strict=True):
                setattr(*place, function)


def _defines(library, name: str) -> bool:
    try:
        return not library._final_module.get_function(name).is_declaration
    except NameError:
        return False
