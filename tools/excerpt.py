"""Writes what README.md and pages of notebooks/ and docs/ say of the published results and of the catalogue.

.venv/bin/python tools/excerpt.py
"""

import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from repro.files import read_json, write_text
from repro.study.judge import claims
from repro.study.judge.claims import Claim
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict, judge
from repro.study.keep import results
from repro.study.notebooks import Project, catalogue
from repro.study.notebooks.catalogue import EVERYTHING, Notebook
from repro.study.publish import published
from repro.study.show import markdown
from repro.study.show.markdown import table, verdicts
from repro.study.show.report import CORRECTED, VERDICTS, Report, open_published

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

import artifact  # noqa: E402
import places  # noqa: E402
from path_of_learning import CHAPTERS, TEACHES  # noqa: E402

START, END = "<!-- written by tools/excerpt.py: {} -->\n", "<!-- end: {} -->"
#: the papers by key, in plain words, for README; another one goes by its key
PAPERS = {
    "porous": "Flow in boxes and rock, two fluids",
    "swap": "Streaming in place",
    "dpd": "Dissipative particle dynamics",
    "sph": "A breaking dam (SPH)",
    "electrons": "Electrons in their own field",
}
#: heads of columns that would be too wide
HEADS = {str(Verdict.NEWER_HARDWARE): "newer hardware"}
#: the paragraph of docs/findings.toml for README
IN_SHORT = "all"


@dataclass(frozen=True)
class Found:
    """A claim with the notebook whose published result tests it."""

    claim: Claim
    evidence: Evidence
    notebook: Notebook

    @property
    def verdict(self) -> Verdict:
        """The verdict, derived anew."""
        return judge(self.claim, self.evidence).verdict


class Publication:
    """The published results of a checkout, joined with the claims."""

    def __init__(self, project: Project):
        self.project = project
        found = catalogue.load(project)
        self.books = [b for b in found.notebooks if EVERYTHING not in b.needs]
        self.papers = found.papers()

    @cached_property
    def shown(self) -> dict[str, dict]:
        """The published result of each notebook that has one, by id."""
        files = {book.id: published.shown(book, self.project) for book in self.books}
        return {identifier: read_json(file) for identifier, file in files.items() if file}

    @cached_property
    def report(self) -> Report:
        """What is published, judged anew, with the claims that no published result states."""
        return open_published(self.project)

    @cached_property
    def found(self) -> list[Found]:
        """Every claim that a published result speaks of, in the order of the papers' files."""
        tested = {}
        for book in self.books:
            if sidecar := self.shown.get(book.id):
                tested |= {claim: (evidence, book) for claim, evidence in results.evidence_of(sidecar).items()}
        judged = [c for paper in self.papers for c in claims.load(paper, self.project).values() if c.judged]
        return [Found(c, *tested[c.id]) for c in judged if c.id in tested]

    def counts(self, link: str = "REPORT.md#{}") -> str:
        """Verdicts of each paper, as a Markdown table; `link` leads from the paper's key to its claims."""
        if not self.found:
            return "\n"
        said = self.report.counts()
        counted = {row["paper"]: Counter({name: row[name] for name in (*VERDICTS, CORRECTED)}) for row in said}
        every = sum(counted.values(), Counter())
        rows = []
        for paper in (paper for paper in self.papers if paper in counted):
            title, target = PAPERS.get(paper, paper), link.format(paper)
            # a paper may have no page yet
            if (self.project.root / target.partition("#")[0]).is_file():
                title = f"[{title}]({target})"
            books = [book for book in self.books if book.paper == paper]
            rows.append(self._counted(title, counted[paper], every, books))
        rows.append(self._counted("[all](notebooks/rendered/00_scoreboard.ipynb)", every, every, self.books))
        return "\n\n".join(filter(None, [table(rows), self.age()])) + "\n"

    def age(self) -> str:
        """That results are from before their notebooks or programs changed, and how many; empty where none is."""
        old, made = len(self.report.outdated), len(self.shown)
        if not old:
            return ""
        all_or_some = f"All {made}" if old == made else f"{old} of the {made}"
        return (
            f"{all_or_some} published results are from before the last change of their notebooks or programs: new runs "
            "may give other numbers."
        )

    def _counted(self, title: str, counted: Counter, every: Counter, books: list[Notebook]) -> dict:
        """A row, with the columns in which some paper has a number."""
        numbers = {HEADS.get(name, name): counted[name] for name in (*VERDICTS, CORRECTED) if every[name]}
        # the chip alone: "H100 80GB HBM3" would take half of the table
        chips = dict.fromkeys(name.partition(" ")[0] for name in self.gpus(books).split(", "))
        return {"paper": title} | numbers | {"GPU": ", ".join(chips)}

    def gpus(self, books: list[Notebook]) -> str:
        """The GPUs on which the results of some notebooks were made, the one of most of them first."""
        made = [self.shown[book.id] for book in books if book.id in self.shown]
        names = Counter((result["provenance"].get("gpu") or {}).get("name", "none") for result in made)
        return ", ".join(name.removeprefix("NVIDIA ") for name, _ in names.most_common())

    def path(self) -> str:
        """The notebooks in the order in which to read them, with what each teaches, as Markdown."""
        parts = []
        for title, ids in CHAPTERS.items():
            books = [b for b in self.books if b.id in ids]
            lines = [f"{n}. {self._entry(book)}" for n, book in enumerate(books, self.books.index(books[0]) + 1)]
            parts.append("\n".join([f"### {title}", "", *lines]))
        return "\n\n".join(parts) + "\n"

    def _entry(self, book: Notebook) -> str:
        run = f" ([as run on the GPU](rendered/{book.relative}))" if book.id in self.shown else ""
        return f"[{book.title}]({book.relative}){run}: {TEACHES[book.id]}"

    def findings(self) -> str:
        """What was found, in a few sentences with the published numbers; empty where nothing is published."""
        paragraph = markdown.findings(self.project).get(IN_SHORT, "") if self.found else ""
        return " ".join(markdown.filled(paragraph, self.report).split()) + "\n" if paragraph else ""

    def outcome(self, paper: str) -> str:
        """What was found of a paper in a few sentences, and how many of its claims have which verdict; may be empty."""
        counted = next((row for row in self.report.counts() if row["paper"] == paper), {})
        counts = [f"{counted[name]} {name}" for name in VERDICTS if counted.get(name)]
        said = markdown.findings(self.project).get(paper, "").partition("\n\n")[0]
        if not self.found or not counts or not said:
            return "\n"
        total = sum(counted[name] for name in VERDICTS)
        line = f"Of its {total} claims: {', '.join(counts)}. [The report](../../REPORT.md#{paper}) has them all."
        return f"{markdown.filled(said, self.report)}\n\n{line}\n"


def replaced(text: str, name: str, content: str) -> str:
    """A page with new content between the marks of that name."""
    start, end = START.format(name), END.format(name)
    return f"{text.split(start)[0]}{start}{content}{end}{text.split(end)[1]}"


def pages(project: Project) -> dict[Path, str]:
    """The pages of a checkout as they must be."""
    made = Publication(project)
    meanings = verdicts() + "\n"
    parts = {
        project.root / "README.md": {"counts": made.counts(), "findings": made.findings(), "verdicts": meanings},
        project.notebooks / "README.md": {"path": made.path(), "figures": places.tables(made)},
        project.root / "docs/artifact.md": {"papers": artifact.papers(made)},
    }
    introduced = {project.root / f"docs/papers/{paper}.md": paper for paper in made.papers}
    parts |= {file: {"outcome": made.outcome(paper)} for file, paper in introduced.items() if file.is_file()}
    texts = {}
    for file, contents in parts.items():
        texts[file] = file.read_text(encoding="utf-8")
        for name, content in contents.items():
            texts[file] = replaced(texts[file], name, content)
    return texts


def main() -> None:
    """Write the pages."""
    for file, text in pages(Project(ROOT)).items():
        write_text(file, text)


if __name__ == "__main__":
    main()
