"""Writes what README.md, notebooks/README.md and docs/artifact.md say of the published results and of the catalogue.

.venv/bin/python tools/excerpt.py
"""

import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from repro.files import read_json, write_text
from repro.study import catalogue, claims, published, results
from repro.study.catalogue import EVERYTHING, Notebook
from repro.study.claims import Claim
from repro.study.evidence import Evidence
from repro.study.paths import Project
from repro.study.text import table
from repro.study.verdicts import Verdict, judge

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

import artifact  # noqa: E402
from path_of_learning import CHAPTERS, TEACHES  # noqa: E402

START, END = "<!-- written by tools/excerpt.py: {} -->\n", "<!-- end: {} -->"
COUNTS, PATH, FIGURES, PAPERS = "counts", "path", "figures", "papers"


@dataclass(frozen=True)
class Found:
    """A claim with the notebook whose published result tests it."""

    claim: Claim
    evidence: Evidence
    notebook: Notebook
    figures: tuple[str, ...]
    """PNG files of that notebook, from the top of the checkout."""

    @property
    def verdict(self) -> Verdict:
        """The verdict, derived anew."""
        return judge(self.claim, self.evidence).verdict


class Publication:
    """The published results of a checkout, joined with the claims."""

    def __init__(self, project: Project):
        self.project = project
        self.books = [b for b in catalogue.load(project).notebooks if EVERYTHING not in b.needs]

    @cached_property
    def found(self) -> list[Found]:
        """Every claim that a published result speaks of, in the order of the papers' files."""
        tested = {}
        for book in self.books:
            if file := published.shown(book, self.project):
                sidecar = read_json(file)
                names = tuple(n for n in results.figure_files(sidecar) if n.endswith(".png"))
                tested |= {claim: (e, book, names) for claim, e in results.evidence_of(sidecar).items()}
        papers = dict.fromkeys(book.paper for book in self.books)
        judged = [c for paper in papers for c in claims.load(paper, self.project).values() if c.judged]
        return [Found(c, *tested[c.id]) for c in judged if c.id in tested]

    def counts(self) -> str:
        """Verdicts of each paper or chapter, as a Markdown table with links."""
        chapters = [(title, [b for b in self.books if b.id in ids]) for title, ids in CHAPTERS.items()]
        # of a paper that was not published yet there is nothing to count, or to link to
        chapters = [(title, some) for title, some in chapters if self._verdicts(some)]
        first = {title: next(b for b in some if published.sidecars(b, self.project)) for title, some in chapters}
        rows = [(f"[{title}]({_rendered(first[title])})", some) for title, some in chapters]
        rows.append(("[all](notebooks/rendered/00_scoreboard.ipynb)", self.books))
        shown = [v for v in Verdict if self._verdicts(self.books)[v]]
        return table([self._counted(title, some, shown) for title, some in rows]) + "\n"

    def _counted(self, title: str, books: list[Notebook], shown: list[Verdict]) -> dict:
        counted = self._verdicts(books)
        return {"paper": title, "GPU": self.gpus(books)} | {str(verdict): counted[verdict] for verdict in shown}

    def gpus(self, books: list[Notebook]) -> str:
        """The GPUs on which the results of some notebooks were made, the one of most of them first."""
        shown = [file for book in books if (file := published.shown(book, self.project))]
        names = Counter((read_json(file)["provenance"].get("gpu") or {}).get("name", "none") for file in shown)
        return ", ".join(name.removeprefix("NVIDIA ") for name, _ in names.most_common())

    def _verdicts(self, books: list[Notebook]) -> Counter:
        return Counter(f.verdict for f in self.found if f.notebook in books)

    def path(self) -> str:
        """The notebooks in the order in which to read them, with what each teaches, as Markdown."""
        parts = []
        for title, ids in CHAPTERS.items():
            books = [b for b in self.books if b.id in ids]
            lines = [f"{n}. {self._entry(book)}" for n, book in enumerate(books, self.books.index(books[0]) + 1)]
            parts.append("\n".join([f"### {title}", "", *lines]))
        return "\n\n".join(parts) + "\n"

    def _entry(self, book: Notebook) -> str:
        run = f" ([as run on the GPU](rendered/{book.relative}))" if published.sidecars(book, self.project) else ""
        return f"[{book.title}]({book.relative}){run}: {TEACHES[book.id]}"

    def figures(self) -> str:
        """Places in the papers, the notebook that reruns them, its figures and the claims there, as Markdown tables."""
        parts = []
        found = sorted(self.found, key=lambda f: self.books.index(f.notebook))
        for paper, some in groupby(found, lambda f: f.claim.paper):
            places: dict[tuple, list[Found]] = {}
            for one in some:
                places.setdefault((one.claim.where, one.notebook.id), []).append(one)
            parts += [f"### `{paper}`", table([_place(where, of) for (where, _), of in places.items()])]
        return "\n\n".join(parts) + "\n"


def _rendered(book: Notebook) -> str:
    return f"notebooks/rendered/{book.relative}"


def _place(where: str, of: list[Found]) -> dict:
    book = of[0].notebook
    stems = [Path(name).stem.removeprefix(f"{book.slug}-") for name in of[0].figures]
    drawn = [f"[{stem}](../{name})" for stem, name in zip(stems, of[0].figures, strict=True)]
    ids = {v: [f.claim.id for f in of if f.verdict == v] for v in Verdict}
    return {
        "in the paper": in_words(where),
        "notebook": f"[{book.id.rpartition('/')[2]}](rendered/{book.relative})",
        "our figures": ", ".join(drawn),
        "claims": "; ".join(f"{verdict}: {', '.join(some)}" for verdict, some in ids.items() if some),
    }


def in_words(where: str) -> str:
    """A place in a paper; sections have a number alone, and 0 is the introduction."""
    if where == "0":
        return "introduction"
    return f"section {where}" if where[0].isdigit() else where


def replaced(text: str, name: str, content: str) -> str:
    """A page with new content between the marks of that name."""
    start, end = START.format(name), END.format(name)
    return f"{text.split(start)[0]}{start}{content}{end}{text.split(end)[1]}"


def pages(project: Project) -> dict[Path, str]:
    """The pages of a checkout as they must be."""
    made = Publication(project)
    readme, path = project.root / "README.md", project.notebooks / "README.md"
    appendix = project.root / "docs/artifact.md"
    texts = {file: file.read_text(encoding="utf-8") for file in (readme, path, appendix)}
    texts[readme] = replaced(texts[readme], COUNTS, made.counts())
    texts[path] = replaced(replaced(texts[path], PATH, made.path()), FIGURES, made.figures())
    texts[appendix] = replaced(texts[appendix], PAPERS, artifact.papers(made))
    return texts


def main() -> None:
    """Write the pages."""
    for file, text in pages(Project(ROOT)).items():
        write_text(file, text)


if __name__ == "__main__":
    main()
