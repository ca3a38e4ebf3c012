"""A step on two ranks as it happened: moving, messages, and the barrier that nobody waits in (paper, section 3)."""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from repro.files import read_json
from repro.papers.style import BLACK, BLUE, GREEN, ORANGE, VERMILLION
from repro.parallel.ranks.launch import launch
from repro.parallel.ranks.migration import ENTERED, MOVED, MOVES, PASSED, RECEIVED, RESUMED, SENT

#: the program of each rank
_MODULE, RANKS = "repro.papers.electrons.speed.two_ranks", 2

#: what happens at a moment: its name, and the symbol and colour of its mark
_MARKS = {
    SENT: ("sends particles", "^", BLUE),
    RECEIVED: ("receives particles", "v", GREEN),
    ENTERED: ("enters the barrier", ">", VERMILLION),
    RESUMED: ("comes back to work", "<", ORANGE),
    PASSED: ("has passed it, counts", "|", BLACK),
}


def step() -> tuple[pd.DataFrame, pd.DataFrame]:
    """What happens on two ranks in a step, a row an event (rank, ms, what, particles), and what each counted."""
    with tempfile.TemporaryDirectory(prefix="timeline") as folder:
        answer = Path(folder) / "answer.json"
        launch(RANKS, _MODULE, [answer], timeout=240)
        found = [read_json(Path(f"{answer}.{rank}")) for rank in range(RANKS)]
    each = [pd.DataFrame(told["events"], columns=["ms", "what", "particles"]) for told in found]
    events = pd.concat(each, keys=range(RANKS), names=["rank"]).reset_index("rank").reset_index(drop=True)
    counts = pd.DataFrame([{"rank": rank} | told["counts"] for rank, told in enumerate(found)])
    return events.assign(ms=1e3 * events["ms"]), counts


def figure(events: pd.DataFrame):
    """The timeline: a line a rank, bars where it moves particles. Returns (figure, arrays)."""
    drawn, axes = plt.subplots(figsize=(8.4, 3.2))
    for rank, rows in events.groupby("rank"):
        begins, ends = (rows.loc[rows["what"] == what, "ms"].to_numpy() for what in (MOVES, MOVED))
        axes.broken_barh(list(zip(begins, ends - begins, strict=True)), (rank - 0.1, 0.2), color="0.7")
        axes.axhline(rank, color="0.9", linewidth=0.8, zorder=0)
    for what, (name, symbol, colour) in _MARKS.items():
        rows = events[events["what"] == what]
        # what is sent leaves above the line, and what arrives comes from below
        shift = {SENT: 0.22, RECEIVED: -0.22}.get(what, 0.0)
        size = 12 if what == PASSED else 6
        axes.plot(rows["ms"], rows["rank"] + shift, symbol, color=colour, markersize=size, label=name)
    axes.set(xlabel="time since the start of the step (ms)", ylim=(-0.6, RANKS - 0.4))
    axes.set_yticks(range(RANKS), [f"rank {rank}" for rank in range(RANKS)])
    axes.grid(axis="y", visible=False)
    drawn.legend(loc="outside lower center", ncols=3)
    return drawn, {name: events[name].to_numpy() for name in events}
