"""Runs on a Dask cluster: a scheduler and two workers, each a process of its own, on loopback."""

import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from textwrap import dedent

import psutil
import pytest
from distributed import Client
from helpers.processes import gone
from helpers.workshop import GOOD, run

from repro.errors import InputError
from repro.study.run import cluster as clusters
from repro.study.run.execute import run_job
from repro.study.run.guard import Stopped
from repro.study.run.plan import job_for

PACKAGE = Path(__file__).resolve().parents[2]
PLACE = "import os, pathlib, time\npathlib.Path(f'{os.getpid()}.pid').touch()\n"
PARENTS = """
import pathlib, psutil
pathlib.Path("parents").write_text(" ".join(str(process.pid) for process in psutil.Process().parents()))
"""
TIMED = """
import pathlib, time
from repro.exclusive_timing import exclusive_timing
inside = pathlib.Path("inside")
with exclusive_timing():
    assert not inside.exists()
    inside.touch()
    time.sleep(0.5)
    inside.unlink()
"""


@contextmanager
def started(*words: str):
    """A program of Dask's that ends with the test."""
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        family = [process, *psutil.Process(process.pid).children(recursive=True)] if process.poll() is None else []
        for member in family:
            member.kill()
        process.wait()


@contextmanager
def scheduler(file: Path):
    """The address of a scheduler."""
    with started("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)):
        wait_until(lambda: file.exists() and file.read_text().strip())
        yield json.loads(file.read_text())["address"]


@contextmanager
def workers(address: str, count: int):
    """Some workers of a scheduler."""
    worker = ["worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    with ExitStack() as stack:
        made = [stack.enter_context(started(*worker)) for _ in range(count)]
        with Client(address, timeout=20) as client:
            client.wait_for_workers(count, timeout=20)
        yield made


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a scheduler, and its two workers, which all tests leave as they are."""
    with scheduler(tmp_path_factory.mktemp("dask") / "scheduler.json") as address, workers(address, 2) as made:
        yield address, made


@pytest.fixture
def mortal(tmp_path):
    """As `cluster`, for a test that kills some of it."""
    with scheduler(tmp_path / "scheduler.json") as address, workers(address, 2) as made:
        yield address, made


def wait_until(true, seconds: float = 20):
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)
    return found


def on(address: str, workshop, **more) -> dict[str, str]:
    folder = workshop.project.build / "run"
    found = run(project=workshop.project, output=folder, device="serial", scheduler=address, **more)
    return {outcome.id: outcome.status for outcome in found}


def test_notebooks_run_on_the_workers_of_a_cluster_and_their_timings_do_not_overlap(cluster, workshop):
    address, workers = cluster
    # both at once, but they do not measure at the same time
    workshop.add("toy/good", dedent(GOOD) + PARENTS + TIMED, entry="timing = true")
    workshop.add("toy/raises", TIMED + "1 / 0", entry="timing = true")
    assert on(address, workshop, jobs=2) == {"toy/good": "done", "toy/raises": "failed"}
    failure = json.loads((workshop.project.build / "run/failed/toy/raises.json").read_text())
    assert failure["error"] == "ZeroDivisionError"
    parents = set(map(int, (workshop.project.notebooks / "toy/parents").read_text().split()))
    assert parents & {worker.pid for worker in workers}
    assert on(address, workshop)["toy/good"] == "up to date"


def test_a_worker_that_is_killed_takes_its_notebook_along_and_another_one_runs_it_again(mortal, workshop):
    address, workers = mortal
    # the first time it waits to be killed
    workshop.add("toy/a", f"{PLACE}while len(list(pathlib.Path('.').glob('*.pid'))) < 2: time.sleep(0.05)")
    workshop.add("toy/b", "pass", entry='needs = ["toy/a"]')
    folder = workshop.project.notebooks / "toy"
    with ThreadPoolExecutor() as pool:
        going = pool.submit(on, address, workshop, jobs=2)
        (file,) = wait_until(lambda: list(folder.glob("*.pid")))
        kernel = psutil.Process(int(file.stem))
        (worker,) = {p.pid for p in kernel.parents()} & {worker.pid for worker in workers}
        os.kill(worker, signal.SIGKILL)
        assert going.result(60) == {"toy/a": "done", "toy/b": "done"}
    wait_until(lambda: not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE)
    assert not (workshop.project.build / "run/.jobs").exists()


def test_notebooks_for_a_gpu_need_a_worker_that_has_one_to_lend(cluster):
    with pytest.raises(InputError, match="start one a GPU, `dask worker tcp.* --nthreads 1 --resources GPU=1`"):
        clusters.executor(cluster[0], 1, "cuda").__enter__()


def test_a_cluster_without_workers_is_refused(tmp_path):
    refused = pytest.raises(InputError, match="has no workers: start one with `dask worker tcp")
    with scheduler(tmp_path / "file.json") as address, refused:
        clusters.executor(address, 1, "serial").__enter__()


def waiting(workshop, address: str, pool: ThreadPoolExecutor):
    """A run on a cluster whose only notebook waits to be killed: what becomes of it, and its kernel."""
    workshop.add("toy/waits", f"{PLACE}time.sleep(600)")
    going = pool.submit(on, address, workshop)
    (file,) = wait_until(lambda: list((workshop.project.notebooks / "toy").glob("*.pid")))
    return going, psutil.Process(int(file.stem))


def test_a_lost_worker_is_told_and_the_last_one_ends_the_run(mortal, workshop, monkeypatch, capsys):
    monkeypatch.setattr(clusters, "LOOK", 0.5)
    monkeypatch.setattr(clusters, "DESERTED", 1.0)
    address, workers = mortal
    with ThreadPoolExecutor() as pool:
        going, kernel = waiting(workshop, address, pool)
        for worker in workers:
            worker.kill()
        with pytest.raises(InputError, match="last worker of tcp.* is lost and no other one came within 1 s") as lost:
            going.result(60)
    assert lost.value.__notes__ == [
        "toy/waits was running; 0 of 1 results are kept; the same command goes on from there"
    ]
    assert len(re.findall(r"the worker tcp\S+ is lost", " ".join(capsys.readouterr().err.split()))) == 2
    assert gone(kernel.pid)
    assert not (workshop.project.build / "run").exists()


def test_a_lost_scheduler_ends_the_run_in_a_line_and_its_notebooks(tmp_path, workshop):
    file = tmp_path / "scheduler.json"
    head = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with started(*head) as head, ThreadPoolExecutor() as pool:
        address = json.loads(wait_until(lambda: file.exists() and file.read_text().strip()))["address"]
        with workers(address, 1):
            going, kernel = waiting(workshop, address, pool)
            head.kill()
            with pytest.raises(InputError, match="the Dask scheduler at tcp.* is lost"):
                going.result(60)
            # the worker is still there, and would go on
            assert gone(kernel.pid)
    assert not (workshop.project.build / "run").exists()


def test_a_job_whose_run_has_ended_writes_nothing(workshop):
    workshop.add("toy/good", GOOD)
    plan = workshop.plan("toy/good")
    with pytest.raises(Stopped):
        run_job(job_for(plan, plan.books[0]))
    assert not plan.output.exists()


def test_what_dask_itself_says_of_a_lost_scheduler_is_silenced_at_every_level():
    names = ("distributed", "distributed.client", "distributed.core")
    before = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.WARNING)
        clusters._silence()
        assert not any(logging.getLogger(name).isEnabledFor(logging.ERROR) for name in names)
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
