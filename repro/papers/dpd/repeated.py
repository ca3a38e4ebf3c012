"""Numbers that independent runs or seeds give, as a claim is judged by them."""

from collections.abc import Iterable
from statistics import median

from repro.errors import require

#: independent runs from which a scatter is told
RUNS = 3


def of_runs(values: Iterable[float], **more) -> dict:
    """Keywords of `Record.measure` for a number of several runs: their median, and how far they lie apart.

    `more` are further keywords. Raises InputError for fewer than `RUNS`.
    """
    values = [float(value) for value in values]
    require(len(values) >= RUNS, f"{len(values)} runs: how far runs lie apart takes {RUNS} at least")
    return {"measured": median(values), "scatter": max(values) - min(values)} | more


def quotients(runs: Iterable[float], others: Iterable[float]) -> list[float]:
    """One number over the other, run by run."""
    return [run / other for run, other in zip(runs, others, strict=True)]
