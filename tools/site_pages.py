"""What the site's pages say of the published results: written where a page has a line `<!-- made: NAME -->`."""

import re
from functools import cached_property

from excerpt import Found, Publication
from path_of_learning import CHAPTERS, TEACHES
from places import in_words

from repro.study.judge.verdicts import judge, judge_by_first_rule
from repro.study.notebooks import Project
from repro.study.notebooks.catalogue import Notebook
from repro.study.publish import published
from repro.study.show import markdown
from repro.study.show.markdown import Links, table, verdicts
from repro.study.show.report import open_published

MARK = re.compile(r"^<!-- made: (.+) -->$", re.MULTILINE)


class Made:
    """The generated parts of pages, as Markdown with links from the top of the checkout."""

    def __init__(self, project: Project):
        self.project = project
        self.publication = Publication(project)

    @cached_property
    def found(self) -> list[Found]:
        """Every claim with its published result, in the order of the notebooks."""
        return sorted(self.publication.found, key=lambda f: self.publication.books.index(f.notebook))

    def part(self, name: str) -> str:
        """The part of that name: a word, and after it the key of a paper for some."""
        word, _, paper = name.partition(" ")
        parts = {
            "counts": self.counts,
            "findings": self.publication.findings,
            "verdicts": verdicts,
            "report": self.report,
        }
        of_a_paper = {"notebooks": self.notebooks, "claims": self.claims}
        return of_a_paper[word](paper) if paper else parts[word]()

    def counts(self) -> str:
        """The verdicts of each paper, whose name leads to its page."""
        return self.publication.counts("docs/papers/{}.md")

    def report(self) -> str:
        """REPORT.md without its title, and without links to folders of the sources, which are not on the site."""
        links = Links(markdown.PLACES.notebooks)
        return markdown.body(open_published(self.project), markdown.findings(self.project), links)

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
        rows = table([_row(found) for found in self.found if found.claim.paper == paper])
        return f":::{{table}}\n:class: claims\n\n{rows}\n:::"


def _row(found: Found) -> dict:
    claim, judged = found.claim, judge(found.claim, found.evidence)
    over = f"; over {_plain(found.evidence.baseline)}" if found.evidence.baseline else ""
    first = judge_by_first_rule(claim, found.evidence)
    before = f" (by its first rule: {first.verdict})" if first else ""
    return {
        "claim": f"[{claim.id}](notebooks/rendered/{found.notebook.relative})",
        "verdict": f"[{judged.verdict}]{{.{judged.verdict.replace(' ', '-')}}}{before}",
        "what": _plain(f"{claim.quantity}, {claim.case}" if claim.case else claim.quantity),
        "reason": _plain(judged.reason) + over,
        "where": in_words(claim.where),
    }


def _plain(text: str) -> str:
    """A text in which Markdown finds nothing to do."""
    return re.sub(r"([\\*_<>$`\[\]])", r"\\\1", text)
