"""Runs the notebooks with parameters that cannot work, and looks at the answers.

.venv/bin/python tools/drill_notebooks.py                  # all
.venv/bin/python tools/drill_notebooks.py dpd poiseuille   # a paper, a notebook

Each parameter of the smoke profile gets values that are out of all bounds: zero, far too many, far too small or
large, a name that is none. A run is right if it is refused in one line, before it starts or in it, or if the value is
one that works. What raises anything else, or is refused only after five seconds, is printed; what runs on is stopped
after ten and counted as taken. The exit status is 1 if a run was wrong.
"""

import argparse
import ast
import os
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from repro import errors
from repro.study import catalogue, cells, limits, parameters
from repro.study.paths import Project

PROFILE, SOON, LONGEST = "smoke", 5.0, 10.0
"""Seconds within which a refusal must come, and after which a run counts as one that works."""

STRANGE = {int: (0, -1, 1, 10**9, 2**70), float: (0.0, -1.0, 1e-30, 1e30), str: ("nope", ""), bool: ()}
"""By the kind of a number or text, what it is set to."""


def strange(value) -> Iterator:
    """`value` with one strange number or text, or with all of them so."""
    if isinstance(value, list):
        yield []
        if value and not isinstance(value[0], list):
            for one in STRANGE[type(value[0])]:
                yield [one, *value[1:]]
                if len(value) > 1:
                    yield [one] * len(value)
    else:
        yield from STRANGE.get(type(value), ())


def answer(source, values: dict, changed: dict, examples: dict) -> tuple[str, str, float]:
    """What became of a run in a process of its own: refused, taken, raw or late; with its line, and the seconds."""
    told, tell = os.pipe()
    begin = time.monotonic()
    child = os.fork()
    if not child:
        os.close(told)
        os.setsid()
        os.write(tell, _run(source, values | changed, changed, examples).encode()[:60_000])
        os._exit(0)
    os.close(tell)
    heard, _, _ = select.select([told], [], [], LONGEST)
    text = os.read(told, 65_536).decode() if heard else "taken\n"
    os.close(told)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    kind, _, line = text.partition("\n")
    return kind or "died", line, time.monotonic() - begin


def _run(source, values: dict, changed: dict, examples: dict) -> str:
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    os.chdir(source.parent)
    names = {"display": lambda *shown: None, "__name__": "__main__"}
    try:
        limits.require(changed, examples, source.stem)
        for cell in cells.read(source):
            if cell["cell_type"] == "code":
                given = values if "parameters" in cell["metadata"].get("tags", []) else None
                exec("".join(cell["source"]), names)
                names |= given or {}
    except (errors.InputError, errors.DivergenceError, errors.CheckError) as error:
        return ("lines" if "\n" in str(error) else "refused") + f"\n{error}"
    except BaseException as error:
        return f"raw\n{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return "taken\n"


def _import_all(source) -> None:
    """What a notebook imports, once for all of its runs."""
    for cell in cells.read(source):
        if cell["cell_type"] == "code":
            for line in ast.parse("".join(cell["source"])).body:
                if isinstance(line, ast.Import | ast.ImportFrom):
                    exec(ast.unparse(line), {})


def main() -> None:
    """Read the command line, drill, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*")
    project, counts = Project.default(), Counter()
    os.environ |= {"MPLBACKEND": "agg", "REPRO_OUTPUT": tempfile.mkdtemp()}
    for book in catalogue.load(project).select(parser.parse_args().notebooks):
        source = book.source(project)
        _import_all(source)
        known = parameters.defaults(source)
        values = known | book.profiles.get(PROFILE, {})
        examples = limits.known(known, book.profiles)
        for name in values:
            for value in () if name in parameters.AUTOMATIC else strange(values[name]):
                kind, line, seconds = answer(source, values | {"device": "threads"}, {name: value}, examples)
                late = kind == "refused" and seconds > SOON
                counts["late" if late else kind] += 1
                if late or kind not in ("refused",):
                    print(f"{'late' if late else kind:8} {seconds:4.1f} s {book.id}({name}={value}) {line}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    sys.exit(bool(set(counts) - {"refused", "taken"}))


if __name__ == "__main__":
    main()
