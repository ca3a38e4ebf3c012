"""The scoreboard: every claim of the papers joined with what a run has measured.

Tables are made of rows, dictionaries by column, and become frames for notebooks: a command needs no pandas.
"""

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from repro.errors import InputError, require
from repro.study.judge import claims
from repro.study.judge.claims import Claim, number
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Judgement, Verdict, judge, judge_by_first_rule
from repro.study.keep import results
from repro.study.keep.fingerprint import outdated
from repro.study.notebooks import Project, catalogue, read_code
from repro.study.notebooks.catalogue import EVERYTHING, Catalogue, Notebook
from repro.study.publish import published
from repro.study.run.progress import duration

if TYPE_CHECKING:
    import pandas as pd

VERDICTS = [str(v) for v in Verdict]
CORRECTED = "rule changed"
"""Column that counts the claims whose rule changed after a first result."""


Rows = list[dict]
STATED = ["id", "where", "quantity", "case", "value", "unit"]
JUDGED = ["published", "measured", "ratio", "verdict", "reason", "first", "was"]
COLUMNS = [*STATED, *JUDGED, "note", "kind", "notebook"]


@dataclass(frozen=True)
class Report:
    """What a run folder says about the papers."""

    folder: Path
    profile: str
    machine: str
    books: Rows
    """A row a notebook: title, status, seconds, machine, counts of the verdicts."""
    rows: Rows
    """A row a claim that is judged."""
    shown: Rows
    """The same of what is measured and counted nowhere: arithmetic, and numbers of other sources."""
    corrected: Rows
    """Claims whose rule, set-up or reading changed after a first result, with the verdict by the first rule."""
    linked: Rows
    """Claims that only restate others, with the id of the other."""
    failures: dict[str, str]
    """Why notebooks failed."""
    troubles: dict[str, str]
    """Which file of a notebook's result is damaged or missing."""
    outdated: dict[str, str]
    """In what the sources at hand differ from those that a result was made from."""
    changed: dict[str, str]
    """Parameters that were changed for a notebook, such as "nodes=64"."""
    figures: dict[str, list[str]]
    """PNG files of each notebook, relative to the folder."""
    captions: dict[str, dict[str, str]]
    """The captions of each notebook's figures that have one, by file."""
    headlines: dict[str, list[str]]
    """What each notebook says in a few words."""
    code: dict[str, list[str]]
    """The folders and files of its paper's experiments that each notebook calls, from the top of the checkout."""
    elsewhere: dict[str, published.Answers]
    """What is published of each other machine, or of this one at another time."""

    def only(self, ids: Iterable[str]) -> "Report":
        """What the report says about these notebooks alone."""
        chosen = set(ids)
        rows = [[row for row in some if row["notebook"] in chosen] for some in (self.books, self.rows)]
        tables = {k: {i: v[i] for i in v if i in chosen} for k, v in vars(self).items() if isinstance(v, dict)}
        tables["elsewhere"] = self.elsewhere
        nothing = {"linked": [], "shown": [], "corrected": []}
        return replace(self, books=rows[0], rows=rows[1], **nothing, **tables)

    def title(self) -> str:
        """What was run, where, and which parameters were changed for it."""
        changes = "".join(f", {name} with {values}" for name, values in self.changed.items())
        return f"Scoreboard: profile {self.profile} on {self.machine}{changes}"

    def problems(self) -> list[str]:
        """A line for each notebook that failed, or whose result is damaged or out of date."""
        where = self.folder / "failed"
        failed = [f"FAILED {name}: {why}; see {where / name}.ipynb" for name, why in self.failures.items()]
        failed += [f"NOT FINISHED {name}: {why}; run it again" for name, why in self.troubles.items()]
        return failed + [f"OUT OF DATE {name}: {why}; run it again" for name, why in self.outdated.items()]

    def tested(self, yes: bool = True) -> Rows:
        """The claims that the run has tested, or the others."""
        return [row for row in self.rows if (row["verdict"] != Verdict.NOT_MEASURED) == yes]

    def counts(self) -> Rows:
        """Counts of the verdicts for each paper."""
        papers = sorted({_paper(row) for row in self.rows})
        counts = {p: Counter(row["verdict"] for row in self.rows if _paper(row) == p) for p in papers}
        corrected = Counter(_paper(row) for row in self.corrected)
        return [{"paper": p} | {v: counts[p][v] for v in VERDICTS} | {CORRECTED: corrected[p]} for p in papers]

    def papers(self) -> "pd.DataFrame":
        """`counts` as a frame, indexed by paper."""
        return frame(self.counts(), ["paper", *VERDICTS, CORRECTED]).set_index("paper")

    def judged(self) -> "pd.DataFrame":
        """`tested` as a frame."""
        return frame(self.tested())


def _paper(row: dict) -> str:
    return row["id"].partition("-")[0]


def frame(rows: Rows, columns: Sequence[str] = COLUMNS) -> "pd.DataFrame":
    """Rows of claims, or of other columns, for a notebook."""
    # half a second that a command does not have
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def open_report(folder: Path | None = None, project: Project | None = None, profile: str = "") -> Report:
    """Report of a run folder: the one given, the one of the run going on, else the newest of `profile`.

    Profile and machine are those that the results name. InputError if there is no result.
    """
    project = project or Project.default()
    place = Path(folder or os.environ.get("REPRO_RUN") or results.newest(project, profile))
    books = catalogue.load(project)
    return _report(books, results.look_at_all(place, books, project), place, project, {})


def open_published(project: Project) -> Report:
    """Report of what is published, made from data/measured alone.

    Of every notebook the result that its rendered notebook and figures show, of whatever machine.
    """
    books = catalogue.load(project)
    require(published.machine_names(books, project), "no results are published: data/measured has none")
    found = published.results_shown(books, project)
    own = {i: result.sidecar["run"]["machine"] for i, result in found.items() if result.sidecar}
    return _report(books, found, project.root, project, own)


def _report(
    books: Catalogue, found: dict[str, results.Result], folder: Path, project: Project, own: Mapping[str, str]
) -> Report:
    sidecars = {i: result.sidecar for i, result in found.items() if result.sidecar}
    failures = {i: _failure(result.failure, i in sidecars) for i, result in found.items() if result.failure}
    troubles = {i: result.trouble for i, result in found.items() if result.trouble}
    profiles, hosts = (results.named(found, key) for key in ("profile", "machine"))
    stated = [claim for paper in books.papers() for claim in claims.load(paper, project).values()]
    known = {claim.id: claim for claim in stated if claim.measurable}
    measured = claim_rows(known, books, found)
    rows = [row for row in measured if known[row["id"]].judged]
    apart = [row for row in measured if not known[row["id"]].judged]
    # what only shows the others' results has none of its own to count
    shown = [b for b in books.notebooks if EVERYTHING not in b.needs or b.id in failures]
    table = [_status(b, found[b.id], rows, profiles) for b in shown]
    pictures = {i: [n for n in results.figure_files(s) if n.endswith(".png")] for i, s in sidecars.items()}
    figures = {i: [name for name in names if (folder / name).is_file()] for i, names in pictures.items()}
    shows = {i: _captions(sidecar) for i, sidecar in sidecars.items()}
    names = (", ".join(sorted(some)) or "unknown" for some in (profiles, hosts))
    linked = [{name: getattr(claim, name) for name in (*STATED, "same_as")} for claim in stated if claim.same_as]
    old = outdated(books.notebooks, sidecars, project)
    said = {i: sidecar.get("headlines", []) for i, sidecar in sidecars.items()}
    beside = published.machine_answers(known, books, project, own)
    code = {book.id: code_of(book, project) for book in books.notebooks}
    facts = (failures, troubles, old, results.changed_parameters(found), figures, shows, said, code, beside)
    return Report(folder, *names, table, rows, apart, corrected_claims(stated, measured), linked, *facts)


def _captions(sidecar: Mapping) -> dict[str, str]:
    """The captions of a result's figures by file. Those of today may say more than an earlier figure shows."""
    figures = sidecar.get("figures", {}).values()
    return {file: figure["caption"] for figure in figures if "caption" in figure for file in figure["files"]}


def _failure(entry: dict, kept: bool) -> str:
    cell = f" (cell {entry['cell']})" if entry.get("cell") is not None else ""
    earlier = "; the earlier result is shown" if kept else ""
    return f"{results.reason(entry)}{cell}{earlier}"


def _status(book: Notebook, found: results.Result, rows: Rows, profiles: set[str]) -> dict:
    run = (found.sidecar or {}).get("run", {})
    if found.failure:
        status = "failed"
    elif found.trouble:
        status = "not finished"
    elif not run and profiles and not profiles & book.profiles.keys():
        status = "not in this profile"
    else:
        status = "done" if run else results.NOT_RUN
    counts = Counter(row["verdict"] for row in rows if row["notebook"] == book.id)
    facts = {"notebook": book.id, "title": book.title, "status": status, "seconds": run.get("seconds")}
    facts["machine"] = run.get("machine", "")
    return facts | {verdict: counts[verdict] for verdict in VERDICTS}


def claim_rows(known: Mapping[str, Claim], books: Catalogue, looked: dict[str, results.Result]) -> Rows:
    """A row for each claim of `known`, with the columns COLUMNS, by the results `looked` at."""
    profiles = results.named(looked, "profile")
    testers = {name: book for book in books.notebooks for name in book.tests}
    said = {i: results.evidence_of(r.sidecar) for i, r in looked.items() if r.sidecar}
    found = []
    for claim in known.values():
        answers = {i: of[claim.id] for i, of in said.items() if claim.id in of}
        valued = [notebook for notebook, evidence in answers.items() if not evidence.not_measured]
        if len(valued) > 1:
            raise InputError(f"claim {claim.id} is measured by {' and by '.join(valued)}: one of them must leave it")
        # the notebook that has a value, else one that says why it has none
        notebook = next(iter(valued or answers), "")
        failed_since = bool(notebook) and looked[notebook].failure
        if answers:
            evidence = answers[notebook]
        else:
            tester = testers.get(claim.id)
            notebook = tester.id if tester else ""
            evidence = Evidence(not_measured=_nothing(tester, looked, profiles))
        judgement = _judged(judge, claim, evidence, "the claim any more")
        first = _judged(judge_by_first_rule, claim, evidence, "the first rule")
        reason = judgement.reason + ("; the notebook has failed since" if failed_since else "")
        facts = {"measured": evidence.shown(claim.value), "verdict": str(judgement.verdict), "reason": reason}
        facts |= _against(claim, evidence) | {"first": str(first.verdict) if first else "", "was": _was(claim, first)}
        everything = asdict(claim) | facts | {"notebook": notebook, "note": evidence.note}
        found.append({name: everything[name] for name in COLUMNS})
    return found


def _judged(by: Callable, claim: Claim, evidence: Evidence, what: str) -> Judgement | None:
    """The verdict by a rule; a value that was handed over for another form of the claim does not count."""
    try:
        return by(claim, evidence)
    except InputError as error:
        return Judgement(Verdict.NOT_MEASURED, f"its result does not fit {what}: {error}")


def _was(claim: Claim, first: Judgement | None) -> str:
    """The first rule where it differs, what it gives, and why it changed."""
    if first is None:
        return ""
    old = claims.first_rule(claim)
    named = {"quantity": old.claim.quantity, "case": old.claim.case, "kind": old.claim.kind}
    parts = [f"{name}: {text}" for name, text in named.items() if text != getattr(claim, name)]
    tolerance = f" (tolerance {old.claim.tolerance})" if old.claim.tolerance else ""
    rule = "" if old.claim.rule == "order" else f"{old.claim.rule} "
    parts.append(f"rule: {rule}{old.claim.stated}{tolerance}")
    return f"{'; '.join(parts)}. By it: {first.reason}. Changed: {old.reason}"


def corrected_claims(stated: Iterable[Claim], measured: Rows) -> Rows:
    """Claims whose rule, set-up or reading changed after a first result: by the first rule, and as judged now."""
    now, found = {row["id"]: row for row in measured}, []
    for claim in (claim for claim in stated if claim.was):
        row = now.get(claim.id)
        if row is None:
            first = _judged(judge_by_first_rule, claim, Evidence(not_measured="no value"), "the first rule")
            row = {"first": str(first.verdict), "verdict": f"not judged: {claim.unjudged}", "was": _was(claim, first)}
        names = {"id": claim.id, "quantity": claim.quantity, "case": claim.case}
        found.append(names | {"by the first rule": row["first"], "now": row["verdict"], "was": row["was"]})
    return found


def _against(claim: Claim, evidence: Evidence) -> dict[str, float | None]:
    """The `published` number, of a range the nearer end, and the `ratio` of the measured one to it, where there are."""
    if isinstance(evidence.measured, Mapping) or claim.rule == "order":
        return {"published": None, "ratio": None}
    measured, (low, high) = evidence.measured, claim.bounds()
    published = min(max(measured, low), high) if measured is not None else low
    return {"published": published, "ratio": measured / published if published and measured is not None else None}


def _nothing(tester: Notebook | None, found: Mapping[str, results.Result], profiles: set[str]) -> str:
    """Why no result of this folder states a claim; `tester` is the notebook that tests it."""
    if tester is None:
        return "no notebook tests it"
    if profiles and not profiles & tester.profiles.keys():
        return f"its notebook is not in this profile ({tester.id})"
    if found[tester.id].failure:
        return f"its notebook failed ({tester.id})"
    if found[tester.id].sidecar:
        # a notebook states every claim that it declares, so this one was declared after that run
        return f"its notebook has not run since this was added ({tester.id})"
    if found[tester.id].trouble:
        return f"the result of its notebook cannot be read ({tester.id})"
    return f"its notebook has not run ({tester.id})"


def code_of(book: Notebook, project: Project) -> list[str]:
    """The folders and files of its paper's experiments that a notebook calls, from the top of the checkout."""
    text = "\n".join(read_code(book.source(project)))
    names = dict.fromkeys(re.findall(rf"^from (repro\.papers\.{book.paper}\b[\w.]*) import", text, re.MULTILINE))
    stems = [name.replace(".", "/") for name in names]
    return [stem if (project.root / stem).is_dir() else f"{stem}.py" for stem in stems]


def as_csv(report: Report) -> str:
    """The claims, a line each, and what is published of other machines."""
    file = StringIO()
    beside = [f"{what} on {name}, published" for name in report.elsewhere for what in ("measured", "verdict")]
    writer = csv.DictWriter(file, [*COLUMNS, *beside], lineterminator="\n")
    writer.writeheader()
    for row in report.rows:
        answers = [text for said in report.elsewhere.values() for text in said.get(row["id"], ("", ""))]
        writer.writerow(row | dict(zip(beside, answers, strict=True)))
    return file.getvalue()


def time_of(seconds: float | None) -> str:
    """How long a notebook took, for people; empty where that is not known."""
    return "" if seconds is None else duration(seconds)


def what(row: Mapping) -> str:
    """What a claim is about: the quantity, and the case where there is one."""
    return f"{row['quantity']}, {row['case']}" if row["case"] else row["quantity"]


def with_units(row: Mapping) -> tuple[str, str]:
    """The paper's value of a claim and the measured one, in its unit; an order or a speedup has its own words."""
    unit = "" if row["unit"] in ("", "-") else f" {row['unit']}"
    measured = shown(row["measured"]) + (unit if isinstance(row["measured"], int | float) else "")
    return f"{row['value']}{unit}", measured


def shown(value) -> str:
    """A measured value for people."""
    if value is None or value != value:
        return ""
    return number(value) if isinstance(value, int | float) else str(value)
