"""What the site's pages say of the published results: written where a page has a line `<!-- made: NAME -->`."""

import re
from dataclasses import replace
from functools import cached_property

from excerpt import Publication
from path_of_learning import CHAPTERS, TEACHES
from places import in_words

from repro.study.notebooks import Project
from repro.study.notebooks.catalogue import Notebook
from repro.study.publish import published
from repro.study.show import markdown
from repro.study.show.markdown import PLACES, verdicts
from repro.study.show.report import Report, Rows, open_published

MARK = re.compile(r"^<!-- made: (.+) -->$", re.MULTILINE)
LINKS = replace(PLACES, of_claims=True)


class Made:
    """The generated parts of pages, as Markdown with links from the top of the checkout."""

    def __init__(self, project: Project):
        self.project = project
        self.publication = Publication(project)

    @cached_property
    def said(self) -> Report:
        """What is published; where in a paper a claim stands in words."""
        report = open_published(self.project)
        code = {i: list(map(as_file, files)) for i, files in report.code.items()}
        rows = [row | {"where": in_words(row["where"])} for row in report.rows]
        return replace(report, rows=rows, code=code, elsewhere={})

    def part(self, name: str) -> str:
        """The part of that name: a word, and after it the key of a paper for some."""
        word, _, paper = name.partition(" ")
        parts = {
            "counts": self.counts,
            "findings": self.publication.findings,
            "verdicts": verdicts,
            "report": self.report,
            "scoreboard": lambda: _claims(self.said.rows, self.said),
        }
        of_a_paper = {"notebooks": self.notebooks, "claims": self.claims}
        return of_a_paper[word](paper) if paper else parts[word]()

    def counts(self) -> str:
        """The verdicts of each paper, whose name leads to its page."""
        return self.publication.counts("docs/papers/{}.md")

    def report(self) -> str:
        """REPORT.md without its title."""
        return markdown.body(self.said, markdown.findings(self.project), LINKS)

    def notebooks(self, paper: str) -> str:
        """The notebooks of a paper, with what each teaches, and as entries of the table of contents."""
        parts = []
        for title, ids in CHAPTERS.items():
            books = [book for book in self.publication.books if book.id in ids and book.paper == paper]
            if not books:
                continue
            chapter = title.partition(", ")[2]
            parts += [f"### {chapter[:1].upper()}{chapter[1:]}"] if chapter else []
            parts.append("\n".join(f"1. {self._titled(book)}: {TEACHES[book.id]}" for book in books))
            entries = [f"/notebooks/{book.relative.with_suffix('')}" for book in books if self._is_page(book)]
            parts.append("\n".join(["```{toctree}", ":hidden:", "", *entries, "```"]))
        return "\n\n".join(parts)

    def _is_page(self, book: Notebook) -> bool:
        return bool(published.sidecars(book, self.project))

    def _titled(self, book: Notebook) -> str:
        linked = f"[{book.title}](notebooks/rendered/{book.relative})"
        return linked if self._is_page(book) else f"{book.title} (not yet published)"

    def claims(self, paper: str) -> str:
        """The claims of a paper with what was measured, as a Markdown table."""
        return _claims([row for row in self.said.rows if row["id"].startswith(f"{paper}-")], self.said)


def as_file(source: str) -> str:
    """A file that has a page in the library: of a folder that of its package."""
    return source if source.endswith(".py") else f"{source}/__init__.py"


def _claims(rows: Rows, report: Report) -> str:
    rows = [{name: _plain(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]
    return f":::{{table}}\n:class: claims\n\n{markdown.claims(rows, report, LINKS)}\n:::"


def _plain(text: str) -> str:
    """A text in which Markdown finds nothing to do."""
    return re.sub(r"([\\*<>$`\[\]])|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)
