"""The claims of all papers joined with the results that speak of them: a row a claim, judged when it is made."""

import re
from collections.abc import Mapping
from dataclasses import asdict

from repro.errors import InputError

from . import cells, claims, results
from .catalogue import Catalogue, Notebook
from .claims import Claim
from .evidence import Evidence
from .paths import Project
from .verdicts import Judgement, Verdict, judge

Rows = list[dict]
COLUMNS = [
    "id",
    "where",
    "quantity",
    "case",
    "value",
    "unit",
    "published",
    "measured",
    "ratio",
    "verdict",
    "reason",
    "note",
    "kind",
    "notebook",
]


def claims_of(books: Catalogue, project: Project) -> dict[str, Claim]:
    """The claims of all papers that have a verdict of their own, by id."""
    return {c.id: c for paper in books.papers() for c in claims.load(paper, project).values() if c.judged}


def rows(
    known: Mapping[str, Claim],
    books: Catalogue,
    looked: Mapping[str, results.Result],
    profiles: set[str],
    project: Project,
) -> Rows:
    """A row for each claim of `known`, with the columns COLUMNS; `profiles` are those of the results `looked` at."""
    testers = {name: book for book in reversed(books.notebooks) for name in _named_by(book, project)}
    said = {i: results.evidence_of(r.sidecar) for i, r in looked.items() if r.sidecar}
    found = []
    for claim in known.values():
        notebook, evidence = _one(claim, {i: of[claim.id] for i, of in said.items() if claim.id in of})
        failed_since = bool(notebook) and looked[notebook].failure
        if evidence is None:
            tester = testers.get(claim.id)
            notebook = tester.id if tester else ""
            evidence = Evidence(not_measured=_nothing(tester, looked, profiles))
        judgement = _judged(claim, evidence)
        reason = judgement.reason + ("; the notebook has failed since" if failed_since else "")
        facts = {"measured": evidence.shown(claim.value), "verdict": str(judgement.verdict), "reason": reason}
        facts |= _against(claim, evidence)
        everything = asdict(claim) | facts | {"notebook": notebook, "note": evidence.note}
        found.append({name: everything[name] for name in COLUMNS})
    return found


def _named_by(book: Notebook, project: Project) -> set[str]:
    """Ids of claims that a notebook names, or the module `claims` that it imports."""
    text = "\n".join(cells.code(book.source(project)))
    modules = re.findall(r"^from (repro\.papers\.[\w.]+) import .*\bclaims\b", text, re.MULTILINE)
    files = [project.root / module.replace(".", "/") / "claims.py" for module in modules]
    found = [re.findall(rf"{book.paper}-\d+", file.read_text(encoding="utf-8")) for file in files if file.is_file()]
    return claims.named_in(book.source(project)).union(*found)


def _judged(claim: Claim, evidence: Evidence) -> Judgement:
    """The verdict; a value that was handed over for another form of the claim does not count."""
    try:
        return judge(claim, evidence)
    except InputError as error:
        return Judgement(Verdict.NOT_MEASURED, f"its result does not fit the claim any more: {error}")


def _against(claim: Claim, evidence: Evidence) -> dict[str, float | None]:
    """The `published` number, of a range the nearer end, and the `ratio` of the measured one to it, where there are."""
    if claim.rule == "order":
        return {"published": None, "ratio": None}
    low, high = claim.bounds()
    if not isinstance(evidence.measured, int | float):
        return {"published": low, "ratio": None}
    published = min(max(evidence.measured, low), high)
    return {"published": published, "ratio": evidence.measured / published if published else None}


def _one(claim: Claim, said: dict[str, Evidence]) -> tuple[str, Evidence | None]:
    """The notebook that has a value for a claim, else one that says why it has none."""
    valued = [notebook for notebook, evidence in said.items() if not evidence.not_measured]
    if len(valued) > 1:
        raise InputError(f"claim {claim.id} is measured by {' and by '.join(valued)}: one of them must leave it")
    notebook = next(iter(valued or said), "")
    return notebook, said.get(notebook)


def _nothing(tester: Notebook | None, found: Mapping[str, results.Result], profiles: set[str]) -> str:
    """Why no result of this folder states a claim; `tester` is the notebook that tests it."""
    if tester is None:
        return "no notebook tests it yet"
    if profiles and not profiles & tester.profiles.keys():
        return f"its notebook is not in this profile ({tester.id})"
    if found[tester.id].failure:
        return f"its notebook failed ({tester.id})"
    if found[tester.id].sidecar:
        return f"the result of its notebook lacks it ({tester.id})"
    return f"its notebook has not run ({tester.id})"


def linked(books: Catalogue, project: Project) -> Rows:
    """Claims that restate others."""
    found = [c for paper in books.papers() for c in claims.load(paper, project).values() if c.same_as]
    columns = ["id", "where", "quantity", "case", "value", "unit", "same_as"]
    return [{name: getattr(claim, name) for name in columns} for claim in found]


def code_of(book: Notebook, project: Project) -> list[str]:
    """The folders and files of its paper's experiments that a notebook calls, from the top of the checkout."""
    text = "\n".join(cells.code(book.source(project)))
    names = dict.fromkeys(re.findall(rf"^from (repro\.papers\.{book.paper}\b[\w.]*) import", text, re.MULTILINE))
    stems = [name.replace(".", "/") for name in names]
    return [stem if (project.root / stem).is_dir() else f"{stem}.py" for stem in stems]
