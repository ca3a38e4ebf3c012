"""Weak and strong scaling: the same program on one and on several ranks, beside what the model says before."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from repro.errors import require
from repro.exclusive_timing import VARIABLE, exclusive_timing
from repro.files import read_json
from repro.parallel.ranks.launch import launch

from .a_rank import ALONE, HIDDEN
from .methods import METHODS
from .model import Link, largest_part, predicted

#: how the box grows with the ranks: each has the same, or all have it between them
WEAK, STRONG = "weak", "strong"


def require_gpus(device, counts) -> None:
    """Refuse more ranks than there are GPUs, where there are some."""
    if device.name == "cuda":
        found = device.xp.cuda.runtime.getDeviceCount()
        require(max(counts) <= found, f"{max(counts)} ranks with a GPU each: this machine has {found}")


def measured(device: str, counts, methods, each, whole, *, seconds: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Times of a step on each number of ranks, with a GPU or a core each, and of messages between them.

    Boxes of the shape `each` lie above each other, one a rank (weak), or the ranks share one of the shape `whole`
    (strong). Columns of the first: scaling, method, shape, ranks, exchange, seconds, spread, "kept (%)" of the speed of
    one rank; of the second: ranks, bytes (that leave a rank), seconds, spread. `counts` must have a 1.
    """
    rows, links = [], []
    for count in counts:
        shapes = {WEAK: (*each[:2], each[2] * count), STRONG: tuple(whole)}
        cases = [(scaling, method, shape) for scaling, shape in shapes.items() for method in methods]
        found = _times(device, count, cases, seconds)
        rows += found["rows"]
        links += [{"ranks": count} | row for row in found["link"]]
    table = pd.DataFrame(rows)
    rate = table["shape"].map(np.prod) / table["seconds"] / table["ranks"]
    alone = table[table["exchange"] == ALONE].index
    one = pd.Series(rate[alone].to_numpy(), pd.MultiIndex.from_frame(table.loc[alone, ["scaling", "method"]]))
    first = one.reindex(pd.MultiIndex.from_frame(table[["scaling", "method"]])).to_numpy()
    return table.assign(**{"kept (%)": 100 * rate / first}), pd.DataFrame(links)


def _times(device: str, count: int, cases, seconds: float) -> dict[str, list[dict]]:
    # not by what they print: programs that start ranks add to it; and they must not stop each other
    with exclusive_timing(), tempfile.TemporaryDirectory(prefix="ranks") as folder:
        answer = Path(folder) / "answer.json"
        words = [device, json.dumps(cases), seconds, answer]
        launch(count, "repro.papers.beyond.scaling.a_rank", words, timeout=500, environment={VARIABLE: ""})
        return read_json(answer)


def seconds_a_node(table: pd.DataFrame) -> pd.Series:
    """Of each method on one rank, on the largest box that it had there."""
    alone = table[table["exchange"] == ALONE]
    nodes = alone["shape"].map(np.prod)
    largest = nodes.groupby(alone["method"]).idxmax()
    return (alone["seconds"] / nodes)[largest].set_axis(largest.index)


def beside_the_model(table: pd.DataFrame, link: Link) -> pd.DataFrame:
    """The steps on several ranks with what the model predicts for them.

    Columns: scaling, method, ranks, exchange, "measured (us)", "predicted (us)", "off (%)".
    """
    node, rows = seconds_a_node(table), []
    for row in table[table["ranks"] > 1].itertuples():
        method, hidden = METHODS[row.method], row.exchange == HIDDEN
        part = largest_part(tuple(row.shape), row.ranks, periodic=method.periodic)
        model = predicted(part, node[row.method], method.crossing, link, hidden=hidden)
        named = [row.scaling, row.method, row.ranks, row.exchange]
        rows.append([*named, 1e6 * row.seconds, 1e6 * model, 100 * (model / row.seconds - 1)])
    columns = ["scaling", "method", "ranks", "exchange", "measured (us)", "predicted (us)", "off (%)"]
    return pd.DataFrame(rows, columns=columns)
