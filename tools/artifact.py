"""What docs/artifact.md says of the published results: how long each paper took, and what became of its claims."""

from collections import Counter

from repro.study.judge.verdicts import Verdict
from repro.study.run.progress import duration
from repro.study.show.markdown import table


def papers(publication) -> str:
    """A line a paper: the command, the time in which its notebooks ran, its claims by verdict; and of all papers."""
    books = [book for book in publication.books if book.id in publication.shown]
    keys = list(dict.fromkeys(book.paper for book in books))
    rows = [_row(publication, f"run {key}", [b for b in books if b.paper == key]) for key in keys]
    return table([*rows, _row(publication, "run", books)]) + "\n"


def _row(publication, command: str, books: list) -> dict:
    counted = Counter(found.verdict for found in publication.found if found.notebook in books)
    shown = [v for v in Verdict if any(found.verdict == v for found in publication.found)]
    return {
        "`python -m repro`": f"`{command} --profile paper --share 8`",
        "notebooks": len(books),
        "GPU": publication.gpus(books),
        "time": duration(busy([_ran(publication, book) for book in books])),
        "claims": counted.total(),
    } | {str(verdict): counted[verdict] for verdict in shown}


def busy(spans: list[tuple[float, float]]) -> float:
    """Seconds in which at least one notebook ran, from the beginning and the end of each."""
    total, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def _ran(publication, book) -> tuple[float, float]:
    run = publication.shown[book.id]["run"]
    return run["started"], run["started"] + run["seconds"]
