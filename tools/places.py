"""From the figures and tables of the papers to ours: the tables of notebooks/README.md."""

import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from repro.study.judge.verdicts import Verdict
from repro.study.notebooks import read_cells
from repro.study.notebooks.catalogue import Notebook
from repro.study.show.markdown import table

#: figures and tables of the papers that no figure, table or section of a notebook shows, and why
NOT_SHOWN = {
    "porous": {
        "figure 3.1": "a diagram of GPUs of 2013",
        "figure 3.2": "speeds of GPUs up to 2013",
        "figure 3.3": "bandwidths of GPUs up to 2013",
        "figure 3.4": "NVIDIA's diagram of host and device in turns; the notebook on the GPU runs listing 1",
    },
    "swap": {
        "figure 1": "a flow chart of any lattice Boltzmann program",
        "table 5": "the machine; the table is lost from the text at hand",
    },
    "dpd": {"figure 6": "a diagram of a GPU's memories; what they cost is measured for section 4.5"},
    "sph": {
        "figure 1": "a diagram of a cell and the 26 around it",
        "figure 2": "a flow chart",
        "figure 3": "a diagram of the latencies of memories",
    },
    "electrons": {},
}

KINDS = ("figure", "table", "listing", "equation")
"""What has a number in a paper, in the order of the rows; sections and the rest come after them."""


def in_words(where: str) -> str:
    """A place in a paper; sections have a number alone, and 0 is the introduction."""
    if where == "0":
        return "introduction"
    return f"section {where}" if where[0].isdigit() else where


def places(where: str) -> list[str]:
    """The figures and tables that a claim's column `where` names, without parts such as (a); else itself in words."""
    named = (re.match(r"(fig|table) ([\d.]*\d)", part) for part in where.split("/"))
    return [f"{'table' if m[1] == 'table' else 'figure'} {m[2]}" for m in named if m] or [in_words(where)]


def tables(publication) -> str:
    """For each paper its places, what shows them, in which notebook, and the claims there, as Markdown."""
    parts = []
    for paper, books in groupby(publication.books, lambda book: book.paper):
        books = list(books)
        # of a paper that was not published yet there is nothing to show, and what is about none has no places
        if paper not in publication.papers or not any(book.id in publication.shown for book in books):
            continue
        rows = _rows(books, [f for f in publication.found if f.claim.paper == paper], publication)
        parts += [f"### `{paper}`", table(rows)]
        if reasons := NOT_SHOWN.get(paper):
            parts.append(f"Not drawn here: {'; '.join(f'{place} ({why})' for place, why in reasons.items())}.")
    return "\n\n".join(parts) + "\n"


def _rows(books: list[Notebook], found: list, publication) -> list[dict]:
    shown = {place for book in books for place in book.shows}
    claimed = {place for one in found for place in places(one.claim.where)}
    return [_row(place, books, found, publication) for place in sorted(shown | claimed, key=_order)]


def _order(place: str) -> tuple:
    kind = place.split()[0]
    rank = KINDS.index(kind) if kind in KINDS else len(KINDS)
    return rank, [int(number) for number in re.findall(r"\d+", place)], place


def _row(place: str, books: list[Notebook], found: list, publication) -> dict:
    here = [one for one in found if place in places(one.claim.where)]
    some = [book for book in books if place in book.shows or any(one.notebook is book for one in here)]
    return {
        "in the paper": place,
        "here": ", ".join(link for book in some for link in links(book, place, publication)),
        "notebook": ", ".join(f"[{book.id.rpartition('/')[2]}]({_page(book, publication)})" for book in some),
        "claims": "; ".join(
            f"{verdict}: {in_short(one.claim.id for one in here if one.verdict == verdict)}"
            for verdict in Verdict
            if any(one.verdict == verdict for one in here)
        ),
    }


def _rendered(book: Notebook) -> str:
    return f"rendered/{book.relative}"


def _page(book: Notebook, publication) -> str:
    """The notebook as it was published, or, where it was not yet, as it will run."""
    return _rendered(book) if book.id in publication.shown else str(book.relative)


def links(book: Notebook, place: str, publication) -> list[str]:
    """Links from notebooks/README.md to what shows a place; what is not published yet has its name alone."""
    drawn = publication.shown.get(book.id, {}).get("figures", {})
    heads = headings(publication.project.notebooks / _rendered(book)) if drawn else set()
    found = []
    for name in book.shows.get(place, ()):
        if name in drawn:
            file = next(file for file in drawn[name]["files"] if Path(file).suffix in (".png", ".gif"))
            found.append(f"[{name.replace('_', ' ')}](../{file})")
        elif name in heads:
            title = name.lstrip("# ")
            found.append(f"[section *{title}*]({_rendered(book)}#{quote(title.replace(' ', '-'))})")
        else:
            found.append(f"section *{name.lstrip('# ')}*" if name.startswith("#") else name.replace("_", " "))
    return found


def headings(notebook: Path) -> set[str]:
    """The headings of a notebook, each with one #."""
    texts = ("".join(cell["source"]) for cell in read_cells(notebook) or [] if cell["cell_type"] == "markdown")
    return {f"# {title}" for text in texts for title in re.findall(r"^#+ +(.+)$", text, re.MULTILINE)}


def in_short(ids: Iterable[str]) -> str:
    """Claims of one paper, those that follow each other as a range: "md-001 to -003, md-005"."""
    ids = list(ids)
    numbers = [int(identifier.rpartition("-")[2]) for identifier in ids]
    parts = []
    for _, run in groupby(zip(ids, numbers, strict=True), key=lambda pair: pair[1] - numbers.index(pair[1])):
        run = [identifier for identifier, _ in run]
        if len(run) > 2:
            run = [f"{run[0]} to -{run[-1].rpartition('-')[2]}"]
        parts += run
    return ", ".join(parts)
