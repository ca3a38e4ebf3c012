"""Notebooks that share a GPU: several at once, those that measure speed alone, and a service of their own."""

import ctypes
import os
import sys
import textwrap
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from helpers.processes import gone
from helpers.workshop import run

from repro.errors import InputError
from repro.study.run import guard
from repro.study.run.execute import run_job
from repro.study.run.guard import LOGS, PIPES, MpsService

BEGINS = """
    import os, pathlib, sys, time
    pipes = pathlib.Path(os.environ["CUDA_MPS_PIPE_DIRECTORY"])
    if sys.argv[1:] == ["-f"]:
        (pipes / "pid").write_text(str(os.getpid()))
        (pipes / "control").touch()
        time.sleep(600)
    else:
        pathlib.Path(__file__).with_name("heard").write_text(f"{pipes} {sys.argv[1:]} {sys.stdin.read()}")
"""
FAILS = "import sys; sys.exit(1)"


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Put a program in the place of the service's; any process is let in."""

    def put(code: str) -> None:
        file = tmp_path / "programs" / guard.PROGRAM
        file.parent.mkdir()
        file.write_text(f"#!{sys.executable}\n{textwrap.dedent(code)}")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{file.parent}:{os.environ['PATH']}")

    monkeypatch.delenv(PIPES, raising=False)
    monkeypatch.setattr("repro.study.run.guard.KNOCK", "pass")
    return put


@pytest.fixture
def on_gpu(monkeypatch) -> list[dict]:
    """Jobs for a GPU, with the ids of those that ran at the same time, that take a moment and end well."""
    jobs, at_work, lock = [], [], threading.Lock()

    def work(job):
        with lock:
            at_work.append(job["id"])
            seen = [job | {"with": set()}]
            jobs.extend(seen)
            for other in (j for j in jobs if j["id"] in at_work and j is not seen[0]):
                other["with"].add(job["id"])
                seen[0]["with"].add(other["id"])
        time.sleep(0.3)
        with lock:
            at_work.remove(job["id"])
        return {"status": "done", "seconds": 0.3}

    monkeypatch.setattr("repro.study.run.runner.run_job", work)
    monkeypatch.setattr("repro.study.run.plan.available", lambda device: "cuda")
    monkeypatch.setattr("repro.study.keep.provenance.machine_name", lambda device: "a-gpu")
    monkeypatch.setattr("repro.study.run.guard.which", lambda name: None)
    return jobs


def _add(workshop) -> None:
    for name, seconds in {"toy/fast": 99, "toy/a": 20, "toy/b": 30, "toy/c": 10}.items():
        entry = f"timing = {str(name == 'toy/fast').lower()}\nseconds = {{ quick = {seconds} }}"
        workshop.add(name, "pass", entry=entry)


def _together(workshop, on_gpu: list[dict], **settings) -> dict[str, set[str]]:
    run(project=workshop.project, output=workshop.project.build / "run", device="cuda", **settings)
    return {job["id"]: job["with"] for job in on_gpu}


def test_one_notebook_at_a_time_holds_a_gpu(workshop, on_gpu):
    _add(workshop)
    assert _together(workshop, on_gpu, jobs=4) == {name: set() for name in ("toy/fast", "toy/a", "toy/b", "toy/c")}


def test_notebooks_that_share_a_gpu_run_at_once_and_one_that_measures_speed_runs_alone_at_the_end(workshop, on_gpu):
    _add(workshop)
    found = _together(workshop, on_gpu, share=3)
    assert found == {"toy/b": {"toy/a", "toy/c"}, "toy/a": {"toy/b", "toy/c"}, "toy/c": {"toy/a", "toy/b"}} | {
        "toy/fast": set()
    }
    # half of the cores for each of those that now and then compute on them
    assert [(job["id"], job["beside"]) for job in on_gpu] == [("toy/b", 1), ("toy/a", 1), ("toy/c", 1), ("toy/fast", 0)]


def test_no_more_notebooks_than_may_share_a_gpu_run_at_once(workshop, on_gpu):
    _add(workshop)
    found = _together(workshop, on_gpu, share=2, jobs=9)
    assert found["toy/fast"] == set()
    assert max(len(job["with"] & {"toy/a", "toy/b"}) for job in on_gpu) == 1


def test_what_shares_a_gpu_is_told_of_the_service_and_what_measures_speed_is_not(
    workshop, on_gpu, monkeypatch, program
):
    program(BEGINS)
    monkeypatch.setattr("repro.study.run.guard.which", lambda name: name)
    _add(workshop)
    _together(workshop, on_gpu, share=3)
    told = {job["id"]: job["variables"] for job in on_gpu}
    assert told["toy/fast"] == {}
    assert told["toy/a"] == told["toy/b"] == told["toy/c"] != {}
    assert not Path(told["toy/a"][PIPES]).exists()


def test_without_the_service_notebooks_take_turns_and_that_is_said(workshop, on_gpu, capsys):
    _add(workshop)
    _together(workshop, on_gpu, share=3)
    assert not any(PIPES in job["variables"] for job in on_gpu)
    line = "notebooks take turns on the GPU: there is no nvidia-cuda-mps-control"
    assert capsys.readouterr().err.count(line) == 1


def test_sharing_is_for_a_gpu(good):
    with pytest.raises(InputError, match="--share 2 is for a GPU, and this run is on serial: use --jobs 2"):
        run(project=good.project, device="serial", share=2)
    with pytest.raises(InputError, match="--share must be from 1 to 1000, not 0"):
        run(project=good.project, device="serial", share=0)


def test_a_notebook_finds_the_variables_of_its_job(workshop, monkeypatch):
    monkeypatch.setattr("repro.study.run.runner.run_job", lambda job: run_job(job | {"variables": {"TOLD": "yes"}}))
    told = {"TOLD": "yes", "REPRO_NOTEBOOK": "toy/told", "REPRO_RUN": str(workshop.project.build / "run")}
    lines = [f"assert os.environ[{name!r}] == {value!r}" for name, value in told.items()]
    # what it writes goes elsewhere first, and its kernel keeps its private folder for itself
    lines += ["assert os.environ['REPRO_OUTPUT'].endswith('/out')", "assert 'REPRO_PRIVATE' not in os.environ"]
    workshop.add("toy/told", "\n".join(["import os", *lines]))
    (outcome,) = run(project=workshop.project, output=workshop.project.build / "run", device="serial")
    assert outcome.status == "done", outcome.message


def test_the_service_begins_once_is_told_to_quit_and_leaves_nothing(program, capsys, tmp_path):
    program(BEGINS)
    service = MpsService(print)
    told = service.variables()
    assert service.variables() == told
    folder = Path(told[PIPES])
    assert told == {PIPES: str(folder), LOGS: str(folder)}
    process = int((folder / "pid").read_text())
    assert psutil.pid_exists(process)
    service.end()
    assert gone(process)
    assert not folder.exists()
    assert (tmp_path / "programs/heard").read_text() == f"{folder} [] quit\n"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("begins", "opens", "status"), [(0, 0, 0), (100, 0, 100), (0, 2, 2)])
def test_a_process_is_let_in_if_it_can_begin_and_keep_the_first_gpu_open(monkeypatch, begins, opens, status):
    """By the functions of CUDA's driver, which return zero where all is well."""
    asked = []

    def keep(context, number):
        asked.append(number)
        assert isinstance(context._obj, ctypes.c_void_p)
        return opens

    driver = SimpleNamespace(cuInit=lambda flags: (asked.append(("flags", flags)), begins)[1])
    driver.cuDevicePrimaryCtxRetain = keep
    monkeypatch.setattr(ctypes, "CDLL", {"libcuda.so.1": driver}.__getitem__)
    with pytest.raises(SystemExit) as end:
        exec(guard.KNOCK, {})
    assert end.value.code == status
    assert asked == [("flags", 0), 0][: 1 + (begins == 0)]


def test_a_service_that_the_user_has_is_used(program, monkeypatch):
    program(BEGINS)
    monkeypatch.setenv(PIPES, "/somewhere")
    service = MpsService(print)
    assert service.variables() == {}
    service.end()


@pytest.mark.parametrize(
    ("code", "knock", "why"),
    [
        (FAILS, "pass", "did not begin"),
        ("import time; time.sleep(60)", "pass", "did not begin"),
        (BEGINS, FAILS, "let no process in"),
        (BEGINS, "import time; time.sleep(60)", "let no process in"),
    ],
)
def test_a_service_that_fails_is_named_once_and_ended(program, monkeypatch, code, knock, why, tmp_path):
    program(code)
    monkeypatch.setattr("repro.study.run.guard.KNOCK", knock)
    # where nothing begins nobody need wait long
    monkeypatch.setattr("repro.study.run.guard.PATIENCE", 3 if code == BEGINS else 0.5)
    monkeypatch.setattr("repro.study.run.guard.mkdtemp", lambda prefix: str(_made(tmp_path / "pipes")))
    said = []
    service = MpsService(said.append)
    assert service.variables() == service.variables() == {}
    assert said == [f"notebooks take turns on the GPU: {guard.PROGRAM} {why}"]
    assert not (tmp_path / "pipes").exists()
    service.end()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_the_service_ends_with_the_run_that_is_killed(program, tmp_path):
    program(BEGINS)
    code = """
        import os, signal
        from repro.study.run import guard
        guard.KNOCK = "pass"
        print(guard.MpsService(print).variables()[guard.PIPES], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = psutil.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=-1, text=True)
    folder = Path(done.communicate()[0].strip())
    assert gone(int((folder / "pid").read_text()))
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
