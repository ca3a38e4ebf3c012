"""What docs/artifact.md says of the published results: how long each paper took, and what became of its claims."""

from collections import Counter

from repro.files import read_json
from repro.study import published
from repro.study.progress import duration
from repro.study.text import table
from repro.study.verdicts import Verdict


def papers(publication) -> str:
    """A line a paper: the command, the time that its notebooks took added up, its claims by verdict; and their sums."""
    books = [book for book in publication.books if published.sidecars(book, publication.project)]
    keys = list(dict.fromkeys(book.paper for book in books))
    rows = [_row(publication, f"run {key}", [b for b in books if b.paper == key]) for key in keys]
    return table([*rows, _row(publication, "run", books)]) + "\n"


def _row(publication, command: str, books: list) -> dict:
    counted = Counter(found.verdict for found in publication.found if found.notebook in books)
    shown = [v for v in Verdict if any(found.verdict == v for found in publication.found)]
    return {
        "`python -m repro`": f"`{command} --profile paper --device cuda`",
        "notebooks": len(books),
        "time": duration(sum(seconds(publication, book) for book in books)),
        "claims": counted.total(),
    } | {str(verdict): counted[verdict] for verdict in shown}


def seconds(publication, book) -> float:
    """How long the run took whose notebook is published."""
    return read_json(published.shown(book, publication.project))["run"]["seconds"]
