"""Sentences of the walk, as Markdown, with their numbers."""

from itertools import pairwise

import pandas as pd

from repro.pic.strategies.host_loop import StepLaunches

from .pointers import State
from .walk import ARRIVES, BLOCKS, ORDER, THREADS, Look, Neighbour


def table(looks: list[Look]) -> pd.DataFrame:
    """What each launch found: busy threads, those in baskets after it, done and still to do."""
    rows = []
    for number, (before, after) in enumerate(pairwise(looks), start=1):
        busy = sum(after.busy) - sum(before.busy)
        unread = sum(end - read for end, read in zip(after.end, after.read, strict=True))
        baskets = [sum(map(len, names)) for names in (after.incoming, after.outgoing)]
        rows.append((number, busy, sum(after.write), unread, *baskets, len(after.waiting)))
    names = [
        "launch",
        "busy threads",
        "at the end of the step",
        "to be read or in work",
        "incoming",
        "outgoing",
        "at the host",
    ]
    return pd.DataFrame(rows, columns=names)


def case_text() -> str:
    """Who takes part."""
    kinds = "; ".join(f"{', '.join(str(k) for k, who in enumerate(ORDER) if who == kind)}: {kind}" for kind in _kinds())
    return (
        f"{len(ORDER)} electrons on {BLOCKS * THREADS} threads, by number what becomes of them in this step: {kinds}. "
        f"Two more, {len(ORDER)} and {len(ORDER) + 1}, are born in the step, and {ARRIVES} comes from a neighbour."
    )


def _kinds() -> list[str]:
    return list(dict.fromkeys(ORDER))


def step_text(looks: list[Look], taken: StepLaunches, neighbour: Neighbour) -> str:
    """What the step took."""
    last = looks[-1]
    lengths = ", ".join(map(str, last.write))
    left = ", ".join(map(str, neighbour.taken))
    return (
        f"{taken.segments} segments took {taken.launches} launches of {BLOCKS * THREADS} threads, of which "
        f"{100 * taken.busy:.0f} % had a particle. Electron {left} left the box. The domains now hold {lengths} "
        "particles without a gap: the first thread of a block that had none of its own any more took from the basket, "
        f"which the host filled {taken.filled} times."
    )


def rules_text(cases: dict[str, list[State]]) -> str:
    """What becomes of the particles by each rule."""
    right, printed, again = cases.values()
    kept = ["".join(states[-1].memory[: states[-1].write]) for states in (right, printed)]
    lost = [name for name in right[0].memory if name not in printed[-1].memory]
    untouched = [n for n in again[0].memory if not any(s.happened.startswith(n) for s in again)]
    return (
        f"With $I_{{read}}$ as the source the domain ends as {' '.join(kept[0])}. As printed, "
        f"B is taken a second time; if it stays then, {' and '.join(lost)} "
        f"{'is' if len(lost) == 1 else 'are'} overwritten. If it is absorbed each time, $I_{{read}}$ comes to the end "
        f"without anybody having looked at {' and '.join(untouched)}."
    )
