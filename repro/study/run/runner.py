"""Executes notebooks: what is up to date is skipped, what fails does not stop the others."""

import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from repro.errors import InputError, require
from repro.files import Lock, lock, read_json
from repro.study.keep import results
from repro.study.notebooks import has_shape, require_writable
from repro.study.notebooks.catalogue import EVERYTHING, Notebook
from repro.study.run.cluster import Cluster, Here, executor
from repro.study.run.execute import CLOCK, LOCK, is_held, run_job
from repro.study.run.guard import MpsService, stop_children
from repro.study.run.plan import Plan, job_for, require_no_settings, require_threads
from repro.study.run.progress import Progress, duration

REFRESH = 0.5
"""Seconds between two looks at the running notebooks."""
WAITING = {"OMP_WAIT_POLICY": "passive"}
"""Threads that wait leave their core to those of other notebooks."""
MOST_JOBS = 1000
LONGEST_CELL = 10_000_000
"""Seconds, four months."""
LEAST_MEMORY, MOST_MEMORY = 0.25, 100_000
"""GiB; less is taken by Python, its kernel and the compiler alone."""


@dataclass(frozen=True)
class Outcome:
    """What became of one notebook."""

    id: str
    status: str
    """done, up to date, failed, refused or not in this profile."""
    seconds: float = 0.0
    message: str = ""


def run_plan(
    plan: Plan,
    *,
    jobs: int = 1,
    share: int = 1,
    fresh: bool = False,
    scheduler: str | None = None,
    timeout: float | None = None,
    memory: float | None = None,
) -> list[Outcome]:
    """Run the notebooks of a plan: what is up to date is skipped, unless `fresh`.

    `jobs` notebooks run at once, and the others stand still while one measures speed; a GPU is held by one at a time,
    or used by `share` at once, whose data it must hold together, and still by one alone that measures speed; `timeout`
    is the most seconds a cell may take, `memory` the most GiB of main memory a notebook; `scheduler` is the address of
    a Dask cluster that shares this file system.
    InputError if the request cannot work, before anything runs, and where nothing can go on; KeyboardInterrupt after
    all is stopped. What ends a run early has a note that says what of it is kept.
    """
    for name, value in (("jobs", jobs), ("share", share)):
        require(1 <= value <= MOST_JOBS, f"--{name} must be from 1 to {MOST_JOBS}, not {value}")
    if share > 1 and plan.device != "cuda":
        raise InputError(f"--share {share} is for a GPU, and this run is on {plan.device}: use --jobs {share}")
    if timeout is not None and not 0 < timeout <= LONGEST_CELL:
        limit = f"more than 0 and at most {LONGEST_CELL:,} seconds, not {timeout:g}"
        raise InputError(f"--timeout must be {limit}; leave it out for no limit")
    if memory is not None and not LEAST_MEMORY <= memory <= MOST_MEMORY:
        limit = f"from {LEAST_MEMORY} to {MOST_MEMORY:,} GiB, not {memory:g}"
        raise InputError(f"--memory must be {limit}; leave it out for no limit")
    require_threads()
    require_no_settings(plan.books, plan.project)
    jobs = share if plan.device == "cuda" else jobs
    with _folder(plan.output) as state, executor(scheduler, jobs, plan.device) as place:
        if state is Lock.NONE:
            jobs = 1
            what = "one notebook runs at a time, and no other run must write there"
            print(f"repro: the file system of {plan.output} has no locks: {what}", file=sys.stderr)
        shutil.rmtree(plan.output / ".jobs", ignore_errors=True)
        (plan.output / ".jobs").mkdir()
        limits = {"timeout": timeout, "memory": memory}
        return _Run(plan, place, jobs, fresh, limits).outcomes()


@contextmanager
def _folder(folder: Path) -> Iterator[Lock]:
    """Hold the folder for this run alone, where it has locks; what a refused run has made of it is gone again."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    require_writable(folder)
    results.require_no_links(folder)
    file, state = _hold(folder)
    try:
        yield state
    finally:
        # it may have been deleted meanwhile
        if [file.name for file in folder.glob("*")] == [LOCK]:
            (folder / LOCK).unlink()
            with suppress(OSError):  # somebody else has put something there
                for path in new:
                    path.rmdir()
        os.close(file)


def _hold(folder: Path) -> tuple[int, Lock]:
    """The open file whose lock the run has, unless there are no locks."""
    file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT)
    state = lock(file, wait=False)
    with suppress(FileNotFoundError):
        # a run that left nothing may have taken it away meanwhile
        if state is not Lock.TAKEN and os.fstat(file).st_ino == os.stat(folder / LOCK).st_ino:
            return file, state
    os.close(file)
    raise InputError(f"another run is writing to {folder}: wait for it or use --output")


def running(folder: Path) -> dict[str, float]:
    """The notebooks that a run in another process is at in this folder, with the seconds since each began."""
    # where there are no locks nobody knows
    if not is_held(folder, unknown=False):
        return {}
    # one that ends meanwhile is gone
    return {i: time.time() - file.stat().st_mtime for i, file in _jobs(folder).items() if file.exists()}


def cells_at(folder: Path) -> dict[str, str]:
    """Where the notebooks of a run are, as "3 of 12", by id; one between two cells is left out."""
    found = {}
    for identifier, file in _jobs(folder).items():
        with suppress(OSError):  # it ends meanwhile
            found[identifier] = file.with_name(CLOCK).read_text()
    return {identifier: text for identifier, text in found.items() if text}


def _jobs(folder: Path) -> dict[str, Path]:
    """The file of each job of a run, by the notebook's id."""
    jobs = {file: read_json(file) for file in folder.glob(".jobs/*/job.json")}
    return {job["id"]: file for file, job in jobs.items() if has_shape(job, {"id": str})}


class _Run:
    """The state of one run: what waits, what runs, what ended."""

    def __init__(self, plan: Plan, place: Here | Cluster, jobs: int, fresh: bool, limits: Mapping[str, float | None]):
        self.plan, self.place, self.jobs, self.fresh, self.limits = plan, place, jobs, fresh, limits
        # a GPU goes on with what a notebook has launched when that stands still: there speed is measured alone, last
        self.apart = plan.device == "cuda" and jobs > 1
        self.waiting = list(plan.books)
        if jobs > 1:
            # the longest first: no core is without work at the end
            self.waiting.sort(key=lambda book: (self.apart and book.timing, -plan.expected(book)))
        # asked once: reading all sources again and again would disturb what is being timed
        self._state = cache(plan.state)
        self.running: dict[Future, Notebook] = {}
        self.ended = [Outcome(book.id, "not in this profile") for book in plan.absent]
        timing = [book.id for book in plan.books if book.timing or EVERYTHING in book.needs]
        self.progress = Progress({book.id: plan.expected(book) for book in plan.books}, jobs, alone=timing)
        # workers may be on other machines
        self.service = MpsService(self.progress.say) if self.apart and isinstance(place, Here) else None

    def outcomes(self) -> list[Outcome]:
        """Run until nothing waits; stop every child on the way out if that is by an exception."""
        try:
            while self.waiting or self.running:
                self._start_what_can()
                self._collect()
        except BaseException as end:
            end.add_note(self._kept())
            self._stop()
            raise
        finally:
            self.progress.close()
            if self.service:
                self.service.end()
            shutil.rmtree(self.plan.output / ".jobs", ignore_errors=True)
        return self.ended

    def _kept(self) -> str:
        """What was interrupted, what is kept, and how to go on."""
        ids = ", ".join(sorted(book.id for book in self.running.values()))
        ended = {outcome.id for outcome in self.ended if outcome.status in ("done", "up to date")}
        kept = sum(book.id in ended and self.plan.sidecar(book).is_file() for book in self.plan.books)
        of_all = f"{kept} of {len(self.plan.books)} results are kept"
        were = "were" if len(self.running) > 1 else "was"
        return f"{ids or 'nothing'} {were} running; {of_all}; the same command goes on from there"

    def _stop(self) -> None:
        for future in self.running:
            future.cancel()
        # again and again: a job may have been on the point of starting its child
        while not all(future.done() for future in self.running):
            stop_children()
            wait(self.running, timeout=REFRESH)

    def _start_what_can(self) -> None:
        for book in [b for b in self.waiting if self._ready(b)]:
            if failed := self._failed_needs(book):
                self._end(book, Outcome(book.id, "failed", message=f"needs {failed}, which failed"))
            elif not self.fresh and self._state(book) == "up to date":
                self._end(book, Outcome(book.id, "up to date"))
        # only now it is known how many there are to share the cores
        for book in [b for b in self.waiting if self._ready(b)]:
            if len(self.running) < self.jobs and not self._disturbed(book):
                self._start(book)

    def _disturbed(self, book: Notebook) -> bool:
        """Whether the notebook and those that run would disturb each other on the GPU that they share."""
        return self.apart and any(book.timing or other.timing for other in self.running.values())

    def _start(self, book: Notebook) -> None:
        if (why := self._state(book)) not in (results.NOT_RUN, "up to date"):
            self.progress.say(f"{book.id} runs again, it is {why}")
        job = job_for(self.plan, book, beside=self._beside(book), variables=self._sharing(book), **self.limits)
        self.waiting.remove(book)
        self.running[self.place.submit(run_job, job)] = book
        self.progress.begin(book.id)

    def _sharing(self, book: Notebook) -> dict[str, str]:
        """What the notebook's environment must say so that it runs beside others on one GPU."""
        if self.service is None:
            return {}
        if book.timing:
            self.service.end()
            return {}
        return WAITING | self.service.variables()

    def _beside(self, book: Notebook) -> int:
        """Notebooks that may compute beside this one; one that measures speed has all cores while it does."""
        if book.timing:
            return 0
        others = [b for b in [*self.waiting, *self.running.values()] if b is not book and EVERYTHING not in b.needs]
        if self.apart:
            # they mostly wait for the GPU: half of the cores for each that computes on them now and then
            return int(not all(b.timing for b in others))
        return min(self.jobs - 1, len(others))

    def _ready(self, book: Notebook) -> bool:
        unfinished = [b for b in [*self.waiting, *self.running.values()] if EVERYTHING not in b.needs]
        if EVERYTHING in book.needs:
            return not unfinished
        return not {b.id for b in unfinished} & set(book.needs)

    def _failed_needs(self, book: Notebook) -> str:
        bad = {o.id for o in self.ended if o.status in ("failed", "refused")}
        return ", ".join(sorted(bad & set(book.needs)))

    def _collect(self) -> None:
        """Note what has ended; InputError where the run cannot go on: what comes in then is no result."""
        done, _ = wait(self.running, timeout=REFRESH, return_when=FIRST_COMPLETED) if self.running else ((), ())
        if not (self.plan.output / LOCK).exists():
            raise InputError(f"{self.plan.output}, the folder of this run, was deleted while it ran")
        for line in self.place.changes():
            self.progress.say(line)
        for future in done:
            book, result = self.running.pop(future), _result(future)
            text = result["message"] if result["status"] == "refused" else results.reason(result)
            self._end(book, Outcome(book.id, result["status"], result["seconds"], text))
        self.progress.tick(cells_at(self.plan.output))

    def _end(self, book: Notebook, outcome: Outcome) -> None:
        if book in self.waiting:
            self.waiting.remove(book)
        self.ended.append(outcome)
        lines = {
            "done": f"done {book.id} in {duration(outcome.seconds)}",
            "up to date": f"{book.id}: up to date",
            "failed": f"FAILED {book.id}: {outcome.message}",
            "refused": f"refused {book.id}",
        }
        self.progress.end(book.id, lines[outcome.status])


def _result(future: Future) -> dict:
    try:
        return future.result()
    except Exception as error:  # a full disk or a lost worker is this notebook's failure, not the run's
        return {"status": "failed", "error": type(error).__name__, "message": str(error), "seconds": 0.0}
