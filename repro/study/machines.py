"""The machines whose results are published: what each has measured, judged anew, to stand beside a run's."""

from collections import Counter
from collections.abc import Mapping

from repro.errors import InputError

from . import published
from .catalogue import EVERYTHING, Catalogue
from .claims import Claim
from .evidence import Evidence
from .nearest import did_you_mean
from .numbers import number
from .paths import Project
from .results import Result, evidence_of
from .verdicts import Verdict, judge

Answers = dict[str, tuple[str, str]]
"""What a machine says of claims, by id: the measured value for people, and the verdict."""


def names(books: Catalogue, project: Project) -> list[str]:
    """The machines with published results, that whose notebooks are shown first."""
    found: Counter[str] = Counter()
    for book in (b for b in books.notebooks if EVERYTHING not in b.needs):
        shown = published.shown(book, project)
        found.update({published.machine_of(p, project): int(p == shown) for p in published.sidecars(book, project)})
    return sorted(found, key=lambda name: (-found[name], name))


def results_of(machine: str, books: Catalogue, project: Project) -> dict[str, Result]:
    """What is published of every notebook's result on a machine, as `results.look` says it of a run folder."""
    known = names(books, project)
    if machine not in known:
        raise InputError(f"no results of '{machine}' are published: {did_you_mean(machine, known)}")
    return {book.id: published.look(book, machine, project) for book in books.notebooks}


def results_shown(books: Catalogue, project: Project) -> dict[str, Result]:
    """The same of the results whose notebooks and figures are in the checkout, each of the machine that made it."""
    found = {book.id: Result(None, None, "") for book in books.notebooks}
    for book in (b for b in books.notebooks if EVERYTHING not in b.needs):
        if file := published.shown(book, project):
            found[book.id] = published.look(book, published.machine_of(file, project), project)
    return found


def answers(
    claims: Mapping[str, Claim], books: Catalogue, project: Project, own: Mapping[str, str] | None = None
) -> dict[str, Answers]:
    """What every machine says of the claims that it has tested; a damaged or edited result says nothing.

    Of each notebook its `own` machine is left out, and so are machines that have nothing to say.
    """
    found = {}
    for machine in names(books, project):
        others = {i: r for i, r in results_of(machine, books, project).items() if (own or {}).get(i) != machine}
        sound = [result.sidecar for result in others.values() if result.sidecar and not result.trouble]
        said = {i: evidence for sidecar in sound for i, evidence in evidence_of(sidecar).items() if i in claims}
        found[machine] = {i: answer for i, evidence in said.items() if (answer := _answer(claims[i], evidence))}
    return {machine: said for machine, said in found.items() if said}


def _answer(claim: Claim, evidence: Evidence) -> tuple[str, str] | None:
    """The value for people with its verdict; None where there is none, or not for the claim as it stands now."""
    try:
        verdict = judge(claim, evidence).verdict
    except InputError:
        return None
    value = evidence.shown(claim.value)
    text = number(value) if isinstance(value, int | float) else str(value)
    return None if verdict == Verdict.NOT_MEASURED else (text, str(verdict))
