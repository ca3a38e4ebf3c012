"""Runs the notebooks with parameters that cannot work, and looks at the answers.

.venv/bin/python tools/drill_notebooks.py                  # all
.venv/bin/python tools/drill_notebooks.py dpd poiseuille   # a paper, a notebook

Each parameter of the smoke profile gets values that are out of all bounds: zero, far too many, far too small or
large, a name that is none, a list without its first or its other values, turned round, or long. A run is right if it is
refused in one line, before it starts or in it, or if the value is one that works. What raises anything else, or is
refused only after five seconds, is printed; what runs on is stopped after seven and counted as taken: `--longest 60`
waits longer. The exit status is 1 if a run was wrong.
"""

import argparse
import ast
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator

from drill_inputs import Target, answer

from repro.study.notebooks import Project, catalogue, parameters, read_cells

PROFILE, SOON, LONGEST = "smoke", 5.0, 7.0
"""Seconds within which a refusal must come, and after which a run counts as one that works by default."""

KINDS = {"accepted": "taken", "slow": "taken"}
"""What becomes of a run that is not refused."""

STRANGE = {int: (0, -1, 1, 10**9, 2**70), float: (0.0, -1.0, 1e-30, 1e30), str: ("nope", ""), bool: ()}
"""By the kind of a number or text, what it is set to."""

MANY = 10
"""Values in a long list: more than a figure has colours."""


def strange(value) -> Iterator:
    """`value` with one strange number or text, or with all of them so; a list also shorter, turned round, or long."""
    if isinstance(value, list):
        yield []
        yield value[:1]
        if len(value) > 1:
            yield value[1:]
            yield value[::-1]
        if value and not isinstance(value[0], list):
            for one in STRANGE[type(value[0])]:
                yield [one, *value[1:]]
                if len(value) > 1:
                    yield [one] * len(value)
            if type(value[0]) in (int, float):
                # all near one that works
                step = 1 if isinstance(value[0], int) else value[0] / 16
                yield [value[0] + k * step for k in range(MANY)]
    else:
        yield from STRANGE.get(type(value), ())


def target_of(book: catalogue.Notebook, values: dict, examples: dict) -> Target:
    """A run of a notebook with some of its parameters changed, cell by cell."""
    source = book.source(Project.default())

    def run(**changed):
        os.chdir(source.parent)
        names = {"display": lambda *shown: None, "__name__": "__main__"}
        parameters.require_limits(changed, examples, book.id, book.limits)
        for cell in read_cells(source):
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
                if "parameters" in cell["metadata"].get("tags", []):
                    names |= values | changed

    return Target(book.id, run, {})


def _import_all(source) -> None:
    """What a notebook imports, once for all of its runs."""
    for cell in read_cells(source):
        if cell["cell_type"] == "code":
            for line in ast.parse("".join(cell["source"])).body:
                if isinstance(line, ast.Import | ast.ImportFrom):
                    exec(ast.unparse(line), {})


def main() -> None:
    """Read the command line, drill, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*")
    parser.add_argument("--longest", type=float, default=LONGEST, help="seconds until a run counts as one that works")
    given, project, counts = parser.parse_args(), Project.default(), Counter()
    os.environ |= {"MPLBACKEND": "agg", "REPRO_OUTPUT": tempfile.mkdtemp()}
    for book in catalogue.load(project).select(given.notebooks):
        source = book.source(project)
        _import_all(source)
        known = parameters.defaults(source)
        values = known | book.profiles.get(PROFILE, {}) | {"device": "threads"}
        target = target_of(book, values, parameters.known_values(known, book.profiles))
        for name in sorted(values.keys() - set(parameters.AUTOMATIC)):
            for value in strange(values[name]):
                begin = time.monotonic()
                found = answer(target, name, value, given.longest)
                seconds = time.monotonic() - begin
                kind = "late" if found.kind == "refused" and seconds > SOON else KINDS.get(found.kind, found.kind)
                counts[kind] += 1
                if kind != "refused":
                    print(f"{kind:8} {seconds:4.1f} s {book.id}({name}={found.value}) {found.text[:300]}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    sys.exit(bool(set(counts) - {"refused", "taken"}))


if __name__ == "__main__":
    main()
