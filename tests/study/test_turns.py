"""Which notebook's turn it is, beside which others, and what is said of a run that ends early. Nothing is executed."""

from types import SimpleNamespace

import pytest

from repro.study.notebooks.catalogue import EVERYTHING
from repro.study.run import runner
from repro.study.run.runner import Outcome

#: seconds that each notebook is expected to take
SECONDS = {"short": 1, "long": 30, "middle": 5, "timed": 20, "board": 2}


def book(name: str, *needs: str) -> SimpleNamespace:
    """A notebook, which measures speed if it says so."""
    return SimpleNamespace(id=name, timing=name == "timed", needs=needs)


@pytest.fixture
def run(monkeypatch):
    """Makes a run of these notebooks that has not begun."""

    def make(*books, device: str = "threads", jobs: int = 3):
        plan = SimpleNamespace(device=device, books=books, absent=[book("absent")], expected=lambda b: SECONDS[b.id])
        plan.sidecar, plan.state = (lambda b: SimpleNamespace(is_file=lambda: b.id != "short")), str
        return runner._Run(plan, None, jobs, False, {})

    return make


def test_the_longest_come_first_and_on_a_gpu_that_is_shared_those_that_measure_speed_last(run):
    books = book("short"), book("timed"), book("long"), book("middle")
    names = {
        (device, jobs): [b.id for b in run(*books, device=device, jobs=jobs).waiting]
        for device in ("threads", "cuda")
        for jobs in (1, 2)
    }
    written = ["short", "timed", "long", "middle"]
    assert names["threads", 1] == names["cuda", 1] == written
    assert names["threads", 2] == ["long", "timed", "middle", "short"]
    assert names["cuda", 2] == ["long", "middle", "short", "timed"]


@pytest.mark.parametrize(
    ("device", "jobs", "own", "other", "disturbed"),
    [
        ("cuda", 2, "timed", "long", True),
        ("cuda", 2, "long", "timed", True),
        ("cuda", 2, "long", "short", False),
        ("cuda", 1, "timed", "long", False),
        ("threads", 2, "timed", "long", False),
    ],
)
def test_on_a_gpu_nothing_runs_beside_what_measures_speed(run, device, jobs, own, other, disturbed):
    first, second = book(own), book(other)
    made = run(first, second, device=device, jobs=jobs)
    assert not made._disturbed(first)
    made.running["a job"] = second
    assert made._disturbed(first) is disturbed


def test_cores_are_shared_with_as_many_as_may_compute_beside(run):
    books = book("short"), book("timed"), book("long"), book("board", EVERYTHING)
    made = run(*books, jobs=2)
    assert [made._beside(b) for b in books] == [1, 0, 1, 1]
    # the scoreboard waits for all others, and is not counted as one of them
    made = run(*books, jobs=9)
    assert [made._beside(b) for b in books] == [2, 0, 2, 3]
    made.waiting.remove(books[2])
    assert made._beside(books[0]) == 1
    made.running["a job"] = books[2]
    assert made._beside(books[0]) == 2


def test_on_a_gpu_a_notebook_has_half_of_the_cores_if_another_computes(run):
    short, timed, long = book("short"), book("timed"), book("long")
    assert [run(short, timed, long, device="cuda")._beside(b) for b in (short, timed, long)] == [1, 0, 1]
    assert run(short, timed, device="cuda")._beside(short) == 0


def test_a_notebook_waits_for_what_it_needs_and_the_scoreboard_for_all(run):
    short, long, board = book("short"), book("long", "short"), book("board", EVERYTHING)
    made = run(short, long, board)
    assert [made._ready(b) for b in (short, long, board)] == [True, False, False]
    made.waiting.remove(short)
    made.running["a job"] = short
    assert not made._ready(long)
    del made.running["a job"]
    assert [made._ready(b) for b in (long, board)] == [True, False]
    made.waiting.remove(long)
    assert made._ready(board)


@pytest.mark.parametrize(("status", "named"), [("failed", "short"), ("refused", "short"), ("done", "")])
def test_what_needs_a_failure_names_it(run, status, named):
    made = run(book("short"), book("long", "short"))
    made.ended.append(Outcome("short", status))
    made.ended.append(Outcome("middle", "failed"))
    assert made._failed_needs(made.plan.books[1]) == named


def test_a_run_that_is_interrupted_says_what_is_kept(run):
    made = run(book("short"), book("timed"), book("long"), book("middle"))
    go_on = "results are kept; the same command goes on from there"
    assert made._kept() == f"nothing was running; 0 of 4 {go_on}"
    made.running = {"one": book("timed"), "other": book("middle")}
    made.ended += [Outcome("long", "up to date"), Outcome("short", "done"), Outcome("middle", "failed")]
    # the file of `short` is gone
    assert made._kept() == f"middle, timed were running; 1 of 4 {go_on}"


def test_a_job_that_is_lost_is_the_notebooks_failure():
    def lost():
        raise OSError("no space left")

    found = runner._result(SimpleNamespace(result=lost))
    assert (found["status"], found["error"], found["message"]) == ("failed", "OSError", "no space left")
    assert runner._result(SimpleNamespace(result=lambda: {"status": "done"})) == {"status": "done"}
