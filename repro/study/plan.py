"""What a run will do, worked out and validated before anything runs."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import catalogue, fingerprint, parameters, provenance, results
from .catalogue import EVERYTHING, Notebook
from .paths import Project, require_folder


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
    absent: list[Notebook]
    """Selected notebooks that do not take part in the profile."""

    def dependencies(self, book: Notebook) -> list[Path]:
        """Files that a notebook's result depends on; for the scoreboard the other results as well."""
        files = fingerprint.dependencies(book, self.project)
        return files + self.others(book) if EVERYTHING in book.needs else files

    def others(self, book: Notebook) -> list[Path]:
        """Finished and failed results other than the notebook's own."""
        found = [f for f in self.output.rglob("*.json") if ".jobs" not in f.parts]
        return sorted(f for f in found if f != self.sidecar(book))

    def sidecar(self, book: Notebook) -> Path:
        """File of a notebook's result."""
        return self.output / f"{book.id}.json"

    def result(self, book: Notebook) -> results.Result:
        """What there is of a notebook's result."""
        return results.look(self.output, book.id)

    def fingerprint(self, book: Notebook, files: Iterable[Path]) -> str:
        """What the notebook's result must have been made from."""
        settings = {"parameters": self.parameters[book.id], "profile": self.profile, "device": self.device}
        return fingerprint.fingerprint(files, self.project, **settings)

    def is_current(self, book: Notebook) -> bool:
        """Whether the notebook has a finished result, whole and still fitting, and has not failed since."""
        found = self.result(book)
        if found.failure or found.trouble:
            return False
        files = self.dependencies(book)
        return fingerprint.is_current(found.sidecar, self.fingerprint(book, files), files)

    def state(self, book: Notebook) -> str:
        """What there is of a notebook's result, in words."""
        found = self.result(book)
        if found.trouble:
            return f"not finished: {found.trouble}"
        if found.failure:
            return f"failed: {results.reason(found.failure)}"
        if found.sidecar is None:
            return "not run"
        return "up to date" if self.is_current(book) else "out of date"

    def expected(self, book: Notebook) -> float:
        """Seconds the notebook will take: as last time, else as the catalogue says."""
        sidecar = self.result(book).sidecar
        return sidecar["run"]["seconds"] if sidecar else book.seconds.get(self.profile, 60)


def make_plan(
    ids: Iterable[str] | None,
    *,
    profile: str,
    device: str,
    overrides: Iterable[str] = (),
    output: Path | None = None,
    project: Project | None = None,
) -> Plan:
    """Validate a request; InputError says what is wrong with it."""
    project = project or Project.default()
    books = catalogue.load(project)
    books.require_profile(profile)
    selected = books.select(ids)
    chosen = [book for book in selected if profile in book.profiles]
    catalogue.require_files(chosen, project)
    resolved = provenance.resolve_device(device)
    values = _parameters(chosen, project, profile, resolved, overrides)
    machine = provenance.machine_name(resolved)
    folder = Path(output).resolve() if output else project.run_folder(profile, machine)
    require_folder(folder)
    absent = [book for book in selected if profile not in book.profiles]
    return Plan(project, profile, resolved, machine, folder, chosen, values, absent)


def _parameters(books, project: Project, profile: str, device: str, overrides) -> dict[str, dict]:
    known = {book.id: parameters.defaults(book.source(project)) for book in books}
    given = parameters.overrides(overrides, known)
    values = {}
    for book in books:
        place = f"catalogue.toml, {book.id}, profile {profile}"
        values[book.id] = parameters.check(book.profiles[profile], known[book.id], place) | given[book.id]
        automatic = {"device": device, "profile": profile}
        for name in automatic.keys() & known[book.id].keys() - values[book.id].keys():
            values[book.id][name] = automatic[name]
    return values


def job_for(plan: Plan, book: Notebook, timeout: float | None) -> dict:
    """All that a worker needs to run a notebook, as plain JSON."""
    return {
        "id": book.id,
        "slug": book.slug,
        "file": str(book.relative),
        "root": str(plan.project.root),
        "output": str(plan.output),
        "work": str(plan.output / ".jobs" / f"{book.slug}-{os.getpid()}"),
        "parameters": plan.parameters[book.id],
        "profile": plan.profile,
        "machine": plan.machine,
        "device": plan.device,
        "fingerprint": plan.fingerprint(book, plan.dependencies(book)),
        "timeout": timeout,
    }
