"""Compares two runs of the same profile on the same machine: what must be the same to the last digit, and what is.

.venv/bin/python tools/twice.py build/quick/MACHINE build/again

Values, tables and figures of every notebook that does not measure speed are compared as they stand in its result, with
seven digits. Exit status 1 where one differs that has no reason to.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from repro.files import read_json
from repro.study.notebooks import Project, catalogue
from repro.study.notebooks.catalogue import EVERYTHING

COMPARED = ("parameters", "void", "headlines", "claims", "tables", "figures")
OPEN = {"dpd/random_numbers": "method one draws numbers in the order in which threads come to a particle's pairs"}
"""Notebooks that differ from run to run, and why; on one core (--device serial) they do not."""


def leaves(value, path: str = "") -> Iterator[tuple[str, object]]:
    """Every single value with its place."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, f"{path}/{key}")
    else:
        yield path, value


def differences(one: dict, other: dict) -> list[str]:
    """Places of the values that differ."""
    first, second = (dict(leaves({key: result.get(key) for key in COMPARED})) for result in (one, other))
    return sorted(place for place in first.keys() | second.keys() if first.get(place) != second.get(place))


def main() -> int:
    """Compare; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs=2, type=Path, help="finished runs")
    folders, same, harm = parser.parse_args().folders, 0, 0
    books = [b for b in catalogue.load(Project.default()).notebooks if not b.timing and EVERYTHING not in b.needs]
    for book in books:
        results = [read_json(folder / f"{book.id}.json") for folder in folders]
        if None in results:
            print(f"{book.id}: not in both runs")
            harm += 1
        elif found := differences(*results):
            why = OPEN.get(book.id, "")
            print(f"{book.id}: {len(found)} values differ, {why or 'such as ' + found[0]}")
            harm += not why
        else:
            same += 1
    print(f"{same} of {len(books)} notebooks gave the same values twice")
    return 1 if harm else 0


if __name__ == "__main__":
    sys.exit(main())
