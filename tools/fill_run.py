"""Fills a run folder with the published results of the notebooks that did not run in it.

So that the scoreboard can be made, and all be published, after some notebooks ran on another machine:

.venv/bin/python tools/fill_run.py build/paper/MACHINE
.venv/bin/python -m repro run scoreboard --profile paper --output build/paper/MACHINE
.venv/bin/python -m repro publish --from build/paper/MACHINE
"""

import argparse
import shutil
import sys
from pathlib import Path

from repro.files import read_json
from repro.study.notebooks import Project, catalogue
from repro.study.notebooks.catalogue import EVERYTHING
from repro.study.publish import published


def fill(folder: Path, project: Project) -> list[str]:
    """Copy what is published, of whatever machine its notebook and figures are; returns the ids of what was copied."""
    filled = []
    for book in catalogue.load(project).notebooks:
        source, target = published.shown(book, project), folder / f"{book.id}.json"
        # what shows the others' results is made anew
        if EVERYTHING in book.needs or target.exists() or not source or published.edits(source, book, project):
            continue
        names = {name: published.place(name, book, project) for name in read_json(source)["files"]}
        # the result last: it says what the others must be
        for name, file in [*names.items(), (f"{book.id}.json", source)]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / name)
        filled.append(book.id)
    folder.mkdir(parents=True, exist_ok=True)
    # what marks a folder as one of runs
    (folder / ".lock").touch()
    return filled


def main(words: list[str]) -> None:
    """Fill the folder that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a run folder")
    filled = fill(parser.parse_args(words).folder, Project.default())
    print("\n".join([*filled, f"{len(filled)} published results copied"]))


if __name__ == "__main__":
    main(sys.argv[1:])
