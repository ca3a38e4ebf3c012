"""What is published in this checkout, of each machine: whether it is what a run made, and still fits the sources."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from repro.errors import InputError
from repro.files import read_json, write_json
from repro.study.judge import claims
from repro.study.judge.claims import Claim, number
from repro.study.judge.evidence import Evidence
from repro.study.judge.verdicts import Verdict, judge
from repro.study.keep import results
from repro.study.keep.fingerprint import changes_since
from repro.study.notebooks import Project, catalogue, has_shape
from repro.study.notebooks.catalogue import EVERYTHING, Catalogue, Notebook


def sidecar_of(book: Notebook, machine: str, project: Project) -> Path:
    """Where the result of a notebook on a machine is published."""
    return project.data / "measured" / machine / f"{book.id}.json"


def place(name: str, book: Notebook, project: Project) -> Path:
    """Where a file of a result, named as in its run folder, is published."""
    return project.notebooks / "rendered" / book.relative if name.endswith(".ipynb") else project.root / name


def sidecars(book: Notebook, project: Project) -> list[Path]:
    """The published results of a notebook, by machine."""
    return sorted((project.data / "measured").glob(f"*/{book.id}.json"))


def shown(book: Notebook, project: Project) -> Path | None:
    """The published result whose executed notebook and figures are in the checkout; those of others stand beside it."""
    found = sidecars(book, project)
    if len(found) < 2:
        return found[0] if found else None
    return min(found, key=lambda path: _distance(path, book, project))


def _distance(path: Path, book: Notebook, project: Project) -> tuple[bool, int, bool]:
    """Whether anything is wrong with a result, how many files are not those that it lists, and whether it is sound.

    Figures of two machines may be the same. So where all is not well a result that was edited or damaged itself comes
    before one that was not: else what was done to it would be told of the other one, too.
    """
    content = read_json(path)
    listed = content[results.FILES] if has_shape(content, results.SEALED) else {}
    files = {place(name, book, project): wanted for name, wanted in listed.items()}
    others = sum(not file.is_file() or results.digest(file) != wanted for file, wanted in files.items())
    flaws = results.seal_flaws(path, lambda name: place(name, book, project))
    return bool(flaws), others, not own_flaws(path, flaws)


def files(book: Notebook, project: Project) -> set[Path]:
    """The published files of a notebook, of all machines; of a damaged result only itself."""
    found = set()
    for path in sidecars(book, project):
        content = read_json(path)
        names = () if results.flaw_of(content, book.id) else (f"{book.id}.ipynb", *results.figure_files(content))
        found |= {path, *(place(name, book, project) for name in names)}
    return found


def look(path: Path, book: Notebook, project: Project) -> results.Result:
    """What a published result of a notebook says, as `results.look` tells it of a run folder."""
    trouble = next(iter(edits(path, book, project)), "")
    # an executed notebook or a figure may be lost; a result that was edited itself says nothing
    return results.Result(None if trouble.startswith(path.name) else read_json(path), None, trouble)


def flaw(book: Notebook, project: Project) -> str:
    """Why a notebook's published result cannot stand, in words; empty if it can."""
    if gone := missing(book, project):
        return gone[0]
    if not (found := sidecars(book, project)):
        return "it is missing"
    for path in found:
        if touched := edits(path, book, project):
            return touched[0]
        if changed := changes(path, read_json(path)["run"], book, project):
            return f"out of date: {results.in_words(changed)}"
    return ""


def edited(books: Catalogue, project: Project) -> list[str]:
    """A line for each published file that is not what a run made, or is gone."""
    found = [(book, path) for book in books.notebooks for path in sidecars(book, project)]
    lines = [f"{book.id}: {text}" for book, path in found for text in edits(path, book, project)]
    lines += [f"{book.id}: {text}" for book in books.notebooks for text in missing(book, project)]
    pages = (place(f"{book.id}.ipynb", book, project) for book in books.notebooks)
    if not listed(project) and (found or any(page.exists() for page in pages)):
        lines.append(f"{list_file(project).name}: it is missing or damaged, and nobody knows what else is")
    return lines


def list_file(project: Project) -> Path:
    """The list of the published results of all machines, which `publish` keeps: what is gone leaves no trace itself."""
    return project.data / "measured" / "published.json"


def listed(project: Project) -> list[str]:
    """The published results as the list names them, MACHINE/ID.json; none where there is no list."""
    content = read_json(list_file(project))
    return content["results"] if has_shape(content, {"results": [str]}) else []


def missing(book: Notebook, project: Project) -> list[str]:
    """A line for each published result of a notebook that is gone, with its machine."""
    names = [f"measured/{name}" for name in listed(project) if name.partition("/")[2] == f"{book.id}.json"]
    what = f"is missing: restore it, or take it out of {list_file(project).name}"
    return [f"{project.data.name}/{name} {what}" for name in names if not os.path.lexists(project.data / name)]


def note(books: Catalogue, gone: set[Path], project: Project) -> None:
    """List what is published beside what was, without what was taken away on purpose."""
    folder = project.data / "measured"
    paths = {folder / name for name in listed(project)} - gone
    paths |= {path for book in books.notebooks for path in sidecars(book, project)} - gone
    write_json(list_file(project), {"results": sorted(path.relative_to(folder).as_posix() for path in paths)})


def states(books: Catalogue, project: Project) -> dict[str, str]:
    """What there is of each notebook's published result: "up to date", or what is wrong with it."""
    return {book.id: flaw(book, project) or "up to date" for book in books.notebooks}


def rule_changes(books: Iterable[Notebook], project: Project, made: Iterable[Mapping] = ()) -> list[str]:
    """A line for each claim whose rule has changed since a result, where its column `was` does not say so.

    Results are those published of the notebooks, of all machines, and those `made` by a run.
    """
    known = {claim.id: claim for file in claims.files(project) for claim in claims.read(file)}
    shown = [read_json(path) for book in books for path in sidecars(book, project)]
    sound = [result for result in (*shown, *made) if not results.flaw_of(result, (result or {}).get("id", ""))]
    lines = [_rule_change(i, known.get(i), then) for result in sound for i, then in result.get("rules", {}).items()]
    return list(dict.fromkeys(filter(None, lines)))


def _rule_change(identifier: str, claim: Claim | None, then: Mapping[str, str]) -> str:
    """What is silent about a change since the rules `then`; empty if nothing is."""
    if claim is None:
        return f"{identifier}: it has a result and is gone from data/published: keep it, as arithmetic or as restated"
    first, now = claims.parts_of_was(then.get("was", "")), claims.parts_of_was(claim.was)
    if lost := [name for name in first if name != "reason" and now.get(name) != first[name]]:
        kept = f"{lost[0]} = {first[lost[0]]}"
        return f"{identifier}: its column was had '{kept}' when a result was made: keep the first rule"
    changed = [name for name in claims.RULE_FIELDS if getattr(claim, name) != then.get(name, "")]
    silent = [name for name in changed if name not in now]
    if not silent and (not changed or claim.was != then.get("was", "")):
        return ""
    name = (silent or changed)[0]
    old, new = then.get(name, "") or "nothing", getattr(claim, name) or "nothing"
    return f"{identifier}: its {name} was '{old}' when a result was made and is '{new}': say so in its column was"


def changes(path: Path, run: Mapping, book: Notebook, project: Project) -> list[str]:
    """In what the sources at hand differ from those of a published result, of which `run` tells."""
    books = catalogue.load(project).notebooks if EVERYTHING in book.needs else ()
    # what shows the others' results shows those that are published with their notebooks, of whatever machine
    others = {file: f"results/{other.id}.json" for other in books if (file := shown(other, project))}
    return changes_since(book, run, project, {file: name for file, name in others.items() if file != path})


def edits(path: Path, book: Notebook, project: Project) -> list[str]:
    """What of a published result is not what a run made, a line each."""
    if results.link_in(project.data, str(path.relative_to(project.data))):
        return [f"{path.name} is damaged (a link)"]
    content = read_json(path)
    if why := results.flaw_of(content, book.id):
        return [f"{path.name} is damaged" + (f" ({why})" if why != "damaged" else "")]
    if content["run"]["machine"] != machine_of(path, project):
        return [f"{path.name} is of another machine, {content['run']['machine']}"]
    found = results.seal_flaws(path, lambda name: place(name, book, project))
    # what stands beside the results of another machine, or of one that is gone, has neither notebook nor figures here
    own = path == shown(book, project) and not missing(book, project)
    return found if own else own_flaws(path, found)


def own_flaws(path: Path, flaws: list[str]) -> list[str]:
    """Those of a result's flaws that are in the sealed result itself, and not in its files."""
    return [flaw for flaw in flaws if flaw.startswith(f"{path.name} ")]


def machine_of(path: Path, project: Project) -> str:
    """The machine below whose name a result is published."""
    return path.relative_to(project.data / "measured").parts[0]


Answers = dict[str, tuple[str, str]]
"""What a machine says of claims, by id: the measured value for people, and the verdict."""


def machine_names(books: Catalogue, project: Project) -> list[str]:
    """The machines with published results, that whose notebooks are shown first."""
    found: Counter[str] = Counter()
    for book in (b for b in books.notebooks if EVERYTHING not in b.needs):
        first = shown(book, project)
        found.update({machine_of(p, project): int(p == first) for p in sidecars(book, project)})
    return sorted(found, key=lambda name: (-found[name], name))


def results_shown(books: Catalogue, project: Project) -> dict[str, results.Result]:
    """The results whose notebooks and figures are in the checkout, as `results.look` says it of a run folder."""
    found = {}
    for book in books.notebooks:
        file = None if EVERYTHING in book.needs else shown(book, project)
        result = look(file, book, project) if file else results.Result(None, None, "")
        found[book.id] = replace(result, trouble=result.trouble or next(iter(missing(book, project)), ""))
    return found


def machine_answers(
    claims: Mapping[str, Claim], books: Catalogue, project: Project, own: Mapping[str, str]
) -> dict[str, Answers]:
    """What every machine says of the claims that it has tested; a damaged or edited result says nothing.

    Of each notebook its `own` machine is left out, and so are machines that have nothing to say.
    """
    found = {}
    for machine in machine_names(books, project):
        others = [book for book in books.notebooks if own.get(book.id) != machine]
        files = [(file, book) for book in others if (file := sidecar_of(book, machine, project)).exists()]
        sound = [result.sidecar for file in files if not (result := look(*file, project)).trouble]
        said = {i: evidence for sidecar in sound for i, evidence in results.evidence_of(sidecar).items() if i in claims}
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
    return None if verdict == Verdict.NOT_MEASURED or not claim.judged else (text, str(verdict))
