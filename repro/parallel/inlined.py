"""What a kernel is compiled from: its functions, found from the first one through closures and globals.

From them come its key in the cache, which holds all that the compiler sees and neither comments nor docstrings, and its
text for readers. What the compiler takes from elsewhere (intrinsics, overloads) stands in this room, see `jit`.
"""

import ast
import dis
import hashlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache, partial
from itertools import chain
from types import CellType, CodeType, FunctionType, ModuleType

import numpy as np
from numba.core.serialize import dumps

#: libraries whose functions are known by their names
_LIBRARIES = sys.stdlib_module_names | {"numpy", "numba", "numba_cuda", "llvmlite", "cupy"}

#: values of a tuple that a comment shows
_SHOWN = 9

#: how the modules are named whose text is made here
GENERATED = "repro_generated_"


def fingerprint(*values) -> str:
    """Hash of functions and constants, as a compiler sees them: it follows a formula, not the text around it."""
    return hashlib.sha256(repr(_described(values, {})).encode()).hexdigest()[:16]


def source(*launches) -> str:
    """The text of kernels as they run: of each its loop and all that is inlined into it, in the order of the calls.

    `launches` were bound by `device.compile`, or launch what was. Each text stands there once; a comment before it says
    where it comes from, what it is for, and with which values. The text is Python.
    """
    seen, printed, texts = set(), set(), []
    for kernel in dict.fromkeys(_kernels(launches, [])):
        texts += _texts(kernel, seen, printed)
    return "\n\n\n".join(texts) + "\n"


def _kernels(launch, seen: list) -> Iterator[FunctionType]:
    """The compiled functions that a launch launches, or those of several launches together."""
    if any(launch is other for other in seen):
        return
    seen.append(launch)
    if hasattr(launch, "compiled"):
        yield _plain(launch.compiled)
        return
    inner = []
    if isinstance(launch, list | tuple):
        inner = launch
    elif isinstance(launch, dict):
        inner = launch.values()
    elif isinstance(launch, FunctionType):
        inner = [cell.cell_contents for cell in launch.__closure__ or ()]
    elif isinstance(launch, partial):
        inner = [launch.func, *launch.args]
    elif callable(launch) and not isinstance(launch, type) and not _of_a_library(launch):
        inner = vars(getattr(launch, "__self__", launch)).values()
    for each in inner:
        yield from _kernels(each, seen)


def _described(value, seen: dict):
    """A value in tuples and texts, which are equal where what is compiled is."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    # those of a compiled function
    kind += repr(sorted(getattr(value, "targetoptions", {}).items()))
    value = _plain(getattr(value, "_defn", value))
    if isinstance(value, tuple | list):
        return kind, getattr(value, "_fields", None), [_described(each, seen) for each in value]
    if isinstance(value, FunctionType) and not _of_a_library(value):
        if id(value) in seen:
            return kind, seen[id(value)]
        seen[id(value)] = len(seen)
        around = {name: _described(each, seen) for name, each in _uses(value).items()}
        return kind, _instructions(value.__code__), _described((value.__defaults__, value.__kwdefaults__), seen), around
    if isinstance(value, np.ndarray):
        return kind, value.dtype.str, value.shape, value.strides, hashlib.sha256(value.tobytes()).hexdigest()
    if isinstance(value, type | ModuleType) or (callable(value) and _of_a_library(value)):
        name = getattr(value, "__qualname__", getattr(value, "__name__", repr(value)))
        return kind, getattr(value, "__module__", None), name, getattr(value, "_fields", None)
    if value is None or isinstance(value, str | bytes | int | float | complex | np.generic | np.dtype):
        return kind, repr(value)
    return kind, hashlib.sha256(dumps(value)).hexdigest()


def _plain(value):
    """The Python function of a compiled one; any other value as it is."""
    for name in ("py_func", "fn"):
        if isinstance(inner := getattr(value, name, None), FunctionType):
            return inner
    return value


def _of_a_library(value) -> bool:
    return (getattr(value, "__module__", None) or "").partition(".")[0] in _LIBRARIES


@cache
def _instructions(code: CodeType) -> tuple:
    """What a function does, without its lines, and without its docstring, which no instruction loads."""
    found, above = [code.co_varnames, code.co_names, code.co_cellvars, code.co_freevars, code.co_flags], 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        number = above << 8 | low
        above = number if operation == dis.EXTENDED_ARG else 0
        # the places of constants depend on whether there is a docstring
        found.append((operation, _constant(code.co_consts[number]) if operation in dis.hasconst else number))
    return tuple(found)


def _constant(value):
    if isinstance(value, CodeType):
        return _instructions(value)
    # a set of constants has another order in each process
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


@cache
def _names(code: CodeType) -> tuple[str, ...]:
    """Names in a function and in those within it."""
    within = [_names(value) for value in code.co_consts if isinstance(value, CodeType)]
    return tuple(dict.fromkeys(chain(code.co_freevars, code.co_names, *within)))


def _uses(function: FunctionType) -> dict:
    """What a function takes from around it, by name."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    # a cell is empty as long as what it is for has not been made
    around = {name: cell.cell_contents for name, cell in cells if cell != CellType()}
    names, found = _names(function.__code__), {}
    for name in names:
        if name in around or name in function.__globals__:
            value = around[name] if name in around else function.__globals__[name]
            found[name] = value
            if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in _LIBRARIES:
                found |= {f"{name}.{part}": getattr(value, part) for part in names if hasattr(value, part)}
    return found


def _texts(function: FunctionType, seen: set, printed: set) -> Iterator[str]:
    seen.add(function)
    uses = {name: _plain(value) for name, value in _uses(function).items()}
    text = _source(function)
    uses = dict(sorted(uses.items(), key=lambda item: _first_place(item[0], text)))
    inner = [value for value in _flat(uses.values()) if isinstance(value, FunctionType) and not _of_a_library(value)]
    comments = [f"# {_title(function)}"]
    comments += [
        f"#     {name} = {_shown(value)}"
        for name, value in uses.items()
        if not isinstance(value, ModuleType | type) and getattr(value, "__name__", "") != name
    ]
    again = text in printed
    printed.add(text)
    yield "\n".join([*comments, *(["# (the text is the one above)"] if again else [text])])
    for each in inner:
        if each not in seen:
            yield from _texts(each, seen, printed)


def _first_place(name: str, text: str) -> int:
    """Where a name comes up in a text."""
    found = re.search(rf"\b{re.escape(name)}\b", text)
    return found.start() if found else len(text)


def _flat(values) -> Iterator:
    for value in values:
        value = _plain(value)
        if isinstance(value, tuple | list):
            yield from _flat(value)
        else:
            yield value


def _title(function: FunctionType) -> str:
    documentation = inspect.getdoc(function) or function.__name__
    module = function.__module__
    if module.startswith(GENERATED):
        # its name is a number
        return sys.modules[module].__doc__
    return f"{module}: {documentation}".split("\n")[0]


def _shown(value) -> str:
    """A value on a line."""
    if isinstance(value, FunctionType):
        return f"{value.__name__} of {value.__module__}"
    if isinstance(value, tuple):
        return f"({', '.join([*map(_shown, value[:_SHOWN]), *['...'] * (len(value) > _SHOWN)])})"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of the shape {value.shape}"
    return repr(value) if isinstance(value, str) else " ".join(str(value).split())


def _source(function: FunctionType) -> str:
    try:
        text = textwrap.dedent(inspect.getsource(function)).rstrip()
        ast.parse(text)
    except (OSError, SyntaxError):
        return f"# {function.__qualname__} has no text of its own"
    return text
