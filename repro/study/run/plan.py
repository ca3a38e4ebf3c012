"""What a run will do, worked out and validated before anything runs."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from repro.environment import NUMBA_FILE
from repro.errors import InputError, require
from repro.parallel.select import available
from repro.study.keep import fingerprint, provenance, results
from repro.study.notebooks import Project, catalogue, parameters, require_folder
from repro.study.notebooks.catalogue import EVERYTHING, Notebook

SOURCES = ("repro", "notebooks", "data", "figures", "tests", "tools", "docs", "containers")
"""Folders of a checkout that no run writes to."""
THREADS = "NUMBA_NUM_THREADS"
"""Variable of Numba."""
MOST_THREADS = 1000


@dataclass(frozen=True)
class Plan:
    """A validated request: notebooks with their parameters, the machine, the folder of the results."""

    project: Project
    profile: str
    device: str
    machine: str
    output: Path
    books: list[Notebook]
    parameters: dict[str, dict]
    changed: dict[str, dict]
    """Parameters that the request sets to something else than the profile does."""
    absent: list[Notebook]
    """Selected notebooks that do not take part in the profile."""

    def sidecar(self, book: Notebook) -> Path:
        """File of a notebook's result."""
        return self.output / f"{book.id}.json"

    def depends(self, book: Notebook) -> dict:
        """What the notebook's result must have been made from."""
        settings = {"profile": self.profile, "device": self.device, **self.parameters[book.id]}
        others = fingerprint.named_results(self.output, self.sidecar(book)) if EVERYTHING in book.needs else {}
        files = fingerprint.dependencies(book, self.project, self.parameters[book.id])
        return fingerprint.depends([*files, *others], self.project, settings, others)

    def state(self, book: Notebook) -> str:
        """What there is of a notebook's result, in words."""
        found = results.look(self.output, book.id)
        if found.trouble:
            return f"not finished: {found.trouble}"
        if found.failure:
            return f"failed: {results.reason(found.failure)}"
        if found.sidecar is None:
            return results.NOT_RUN
        made_from = found.sidecar["run"]["depends"]
        now = self.depends(book) | {"claims": fingerprint.stated_now(made_from, self.project)}
        changes = fingerprint.differences(made_from, now)
        return f"out of date: {results.in_words(changes)}" if changes else "up to date"

    def expected(self, book: Notebook) -> float:
        """Seconds the notebook will take: as last time here, else in this profile, else as the catalogue says."""
        usual = self.project.run_folder(self.profile, self.machine)
        found = (results.look(folder, book.id).sidecar for folder in (self.output, usual))
        return next((sidecar["run"]["seconds"] for sidecar in found if sidecar), book.seconds.get(self.profile, 60))


def make_plan(
    ids: Iterable[str] | None,
    *,
    profile: str,
    device: str,
    overrides: Iterable[str] = (),
    output: Path | None = None,
    project: Project | None = None,
) -> Plan:
    """Validate a request for the notebooks `ids` (all by default) and those they need; InputError says what is wrong.

    `overrides` are texts "name=value" or "id:name=value". Results go to build/PROFILE/MACHINE, with changed parameters
    to build/PROFILE,NAME=VALUE/MACHINE, or to `output`.
    """
    project = project or Project.default()
    books = catalogue.load(project)
    books.require_profile(profile)
    selected = books.select(ids)
    chosen = [book for book in selected if profile in book.profiles]
    catalogue.require_files(chosen, project)
    resolved = available(device)
    known = {book.id: parameters.defaults(book.source(project)) for book in chosen}
    values = {book.id: parameters.of_profile(book, known[book.id], profile, resolved) for book in chosen}
    changed = _changed(known, values, overrides, project.root)
    for book in chosen:
        examples = parameters.known_values(known[book.id], book.profiles)
        parameters.require_limits(changed[book.id], examples, book.id, book.limits)
        parameters.require_files(changed[book.id], known[book.id], project.root, book.id)
    values = {i: values[i] | changed[i] for i in values}
    machine = provenance.machine_name(resolved)
    # results with changed parameters never replace those of the profile
    name = profile + parameters.suffix(changed, {i: known[i] | values[i] for i in values})
    folder = project.run_folder(name, machine) if output is None else _require_apart(Path(output), project)
    require_folder(folder)
    absent = [book for book in selected if profile not in book.profiles]
    return Plan(project, profile, resolved, machine, folder, chosen, values, changed, absent)


def _require_apart(output: Path, project: Project) -> Path:
    """The folder, whole; InputError where results would lie among the sources or among other files."""
    folder = output.resolve()
    # as it is named, too: a link in the checkout may lead out of it
    for place in (folder, Path.cwd() / output):
        checkouts = (path for path in (place, *place.parents) if (path / "notebooks/catalogue.toml").is_file())
        for root in {project.root, *checkouts}:
            parts = place.relative_to(root).parts if place.is_relative_to(root) else ()
            if root.is_relative_to(place) or (parts and (parts[0] in SOURCES or parts[0].startswith("."))):
                advice = "name a folder such as build/mine"
                raise InputError(f"--output '{output}' would put results among the sources: {advice}")
    # a run leaves its lock, results, or failures
    traces = (".lock", "failed", "*.json", "*/*.json")
    if folder.is_dir() and any(folder.iterdir()) and not any(any(folder.glob(trace)) for trace in traces):
        raise InputError(f"--output '{output}' holds files that no run has made: name a new folder or an empty one")
    return folder


def require_threads() -> None:
    """InputError where the environment keeps Numba from the threads it is to have."""
    threads = os.environ.get(THREADS, "")
    fits = not threads or (threads.isdecimal() and 1 <= int(threads) <= MOST_THREADS)
    wanted = f"must be a whole number from 1 to {MOST_THREADS}, or unset it for all cores"
    require(fits, f"{THREADS} = {threads!r}: {wanted}")


def require_no_settings(books: Iterable[Notebook], project: Project) -> None:
    """InputError where a file beside a notebook would change how Numba compiles."""
    for file in (book.source(project).parent / NUMBA_FILE for book in books):
        require(not file.exists(), f"{file} would change how kernels are compiled: move it away")


def _changed(known: dict[str, dict], values: dict[str, dict], overrides: Iterable[str], root: Path) -> dict[str, dict]:
    """What the command line sets to something else than it would have been."""
    given = parameters.overrides(overrides, known)
    given = {i: {n: parameters.from_here(v, root) for n, v in some.items()} for i, some in given.items()}
    return {i: {n: v for n, v in given[i].items() if v != (known[i] | values[i])[n]} for i in known}


def job_for(
    plan: Plan, book: Notebook, *, beside: int = 0, variables: Mapping[str, str] | None = None, **limits
) -> dict:
    """All that a worker needs to run a notebook with up to `beside` others at the same time, as plain JSON.

    `variables` are set in the notebook's environment; `limits` are `timeout` and `memory`, see `runner.run_plan`.
    """
    jobs = plan.output / ".jobs"
    job = {"id": book.id, "slug": book.slug, "file": str(book.relative), "root": str(plan.project.root)}
    job |= {"output": str(plan.output), "work": str(jobs / f"{book.slug}-{os.getpid()}"), "quiet": str(jobs / "quiet")}
    job |= {"profile": plan.profile, "machine": plan.machine, "device": plan.device, "depends": plan.depends(book)}
    job |= {"parameters": plan.parameters[book.id], "changed": plan.changed[book.id]}
    return job | {"timeout": None, "memory": None, "beside": beside, "variables": dict(variables or {})} | limits
