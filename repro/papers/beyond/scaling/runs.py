"""Weak and strong scaling: the same program on one and on several ranks."""

import json
import tempfile
from pathlib import Path

import pandas as pd

from repro.exclusive_timing import VARIABLE, exclusive_timing
from repro.files import read_json
from repro.parallel.ranks.launch import launch

#: how the box grows with the ranks: each has the same, or all have it between them
WEAK, STRONG = "weak", "strong"


def cases_of(methods, ranks: int, each, whole) -> list[tuple[str, str, tuple[int, int, int]]]:
    """(kind, method, shape) of what so many ranks run: boxes of the shape `each` above each other, or a `whole` one."""
    nx, ny, nz = each
    shapes = {WEAK: (nx, ny, nz * ranks), STRONG: tuple(whole)}
    return [(kind, method, shape) for kind, shape in shapes.items() for method in methods]


def measured(device: str, counts, methods, each, whole, *, seconds: float) -> pd.DataFrame:
    """Times of a step on each number of ranks, `counts`, with a GPU or a core each.

    Columns: kind, method, shape, ranks, work (of the whole box), seconds, spread, "kept (%)" (of the speed of one rank,
    a rank).
    """
    rows = []
    for count in counts:
        cases = cases_of(methods, count, each, whole)
        found = _times(device, count, [case[1:] for case in cases], seconds)
        rows += [{"kind": case[0]} | row for case, row in zip(cases, found, strict=True)]
    table = pd.DataFrame(rows)
    table.insert(5, "rate a rank", table["work"] / table["seconds"] / table["ranks"])
    one = table[table["ranks"] == min(counts)].set_index(["kind", "method"])["rate a rank"]
    first = one.reindex(pd.MultiIndex.from_frame(table[["kind", "method"]])).to_numpy()
    return table.assign(**{"kept (%)": 100 * table["rate a rank"] / first})


def _times(device: str, count: int, cases, seconds: float) -> list[dict]:
    # not by what they print: programs that start ranks add to it; and they must not stop each other
    with exclusive_timing(), tempfile.TemporaryDirectory(prefix="ranks") as folder:
        answer = Path(folder) / "answer.json"
        words = [device, json.dumps(cases), seconds, answer]
        launch(count, "repro.papers.beyond.scaling.a_rank", words, timeout=500, environment={VARIABLE: ""})
        return read_json(answer)
