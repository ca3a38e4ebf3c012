"""Runs with real kernels: results, failures, interruptions."""

import fcntl
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from helpers.workshop import GOOD

from repro.errors import InputError
from repro.study import execute
from repro.study.provenance import cores
from repro.study.runner import run

PACKAGE = Path(__file__).resolve().parents[2]
SLEEP = "import os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(value)"


def statuses(workshop, **settings) -> dict[str, str]:
    outcomes = run(project=workshop.project, output=workshop.project.build / "run", device="serial", **settings)
    return {outcome.id: outcome.status for outcome in outcomes}


def results(workshop) -> set[str]:
    folder = workshop.project.build / "run"
    return {str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file() and f.name != ".lock"}


def test_result_is_kept_while_current_and_while_a_newer_run_fails(workshop):
    workshop.add("toy/good_speed", GOOD.replace("toy/good", "toy/good_speed") + "    assert value")
    assert statuses(workshop) == {"toy/good_speed": "done"}
    assert statuses(workshop) == {"toy/good_speed": "up to date"}
    assert statuses(workshop, parameters=["value=0"]) == {"toy/good_speed": "failed"}
    result = {"toy/good_speed.json", "toy/good_speed.ipynb"}
    assert results(workshop) == result | {"failed/toy/good_speed.json", "failed/toy/good_speed.ipynb"}
    assert statuses(workshop) == {"toy/good_speed": "done"}
    assert results(workshop) == result
    folder = workshop.project.build / "run/toy"
    sidecar = json.loads((folder / "good_speed.json").read_text())
    assert sidecar["parameters"] == {"value": 0.5541}
    assert sidecar["claims"]["toy-001"]["verdict"] == "reproduced"
    assert str(workshop.project.root) not in (folder / "good_speed.ipynb").read_text()


def test_damaged_result_runs_again_with_a_line_that_names_the_file(workshop, capsys):
    workshop.add("toy/plain", "pass")
    folder = workshop.project.build / "run"
    (folder / "toy").mkdir(parents=True)
    (folder / "toy/plain.json").write_text('"x"')
    assert statuses(workshop) == {"toy/plain": "done"}
    assert "toy/plain runs again: toy/plain.json is damaged\n" in capsys.readouterr().err
    (folder / "toy/plain.ipynb").unlink()
    assert statuses(workshop) == {"toy/plain": "done"}
    assert results(workshop) == {"toy/plain.json", "toy/plain.ipynb"}


def test_notebook_runs_with_this_python_whatever_kernel_it_names(workshop):
    gone = {"kernelspec": {"name": "gone", "display_name": "Gone", "language": "python"}}
    for name, metadata in {"none": {}, "gone": gone}.items():
        file = workshop.add(f"toy/{name}", f"import sys\nassert sys.executable == {sys.executable!r}")
        file.write_text(json.dumps(json.loads(file.read_text()) | {"metadata": metadata}))
    assert statuses(workshop, jobs=2) == {"toy/none": "done", "toy/gone": "done"}


def test_touching_a_file_reruns_only_what_depends_on_it(workshop):
    workshop.add("toy/a", "pass", entry='data = ["published/toy.csv"]')
    workshop.add("toy/b", "pass")
    statuses(workshop, jobs=2)
    (workshop.project.data / "published/toy.csv").touch()
    assert statuses(workshop) == {"toy/a": "done", "toy/b": "up to date"}


def test_failures_of_every_kind_leave_a_reason_and_stop_no_other(workshop):
    workshop.add("toy/raises", "1 / 0")
    workshop.add("toy/killed", "import os\nos.kill(os.getpid(), 9)")
    workshop.add("toy/slow", "import time\ntime.sleep(60)")
    workshop.add("toy/unclosed", "from repro.study.record import open_record")
    workshop.add("toy/after", "pass", entry='needs = ["toy/raises"]')
    workshop.add("toy/fine", "pass")
    found = statuses(workshop, jobs=3, timeout=4.5)
    assert found.pop("toy/fine") == "done"
    assert set(found.values()) == {"failed"}
    folder = workshop.project.build / "run"
    reasons = {f.stem: json.loads(f.read_text())["error"] for f in (folder / "failed/toy").glob("*.json")}
    assert reasons == {
        "raises": "ZeroDivisionError",
        "killed": "DeadKernelError",
        "slow": "CellTimeoutError",
        "unclosed": "NoRecord",
    }
    assert {name for name in results(workshop) if "failed" not in name} == {"toy/fine.json", "toy/fine.ipynb"}


def test_message_of_a_failure_is_one_line_with_its_beginning_and_its_end():
    problem = execute._problem("TypingError", "\x1b[1mfirst\x1b[0m\n\n  " + "x" * 1000 + "\n last \n")
    assert problem["message"].startswith("first xxx")
    assert problem["message"].endswith("xxx last")
    assert len(problem["message"]) < 320


def test_wrong_physical_input_is_refused_and_leaves_nothing(workshop):
    workshop.add(
        "toy/a",
        "from repro.errors import MemoryLimitError\nraise MemoryLimitError('grid needs 9 TiB')",
    )
    (outcome,) = run(project=workshop.project, output=workshop.project.build / "run", device="serial")
    assert (outcome.status, outcome.message) == ("refused", "grid needs 9 TiB")
    assert results(workshop) == set()


TICKS = """
import os, pathlib, time
end = time.monotonic() + 30
while not pathlib.Path("ready").exists() and time.monotonic() < end:
    with open("ticks", "a") as file: file.write(".")
    time.sleep(0.01)
assert pathlib.Path("ready").exists()
"""

QUIET = """
import os, pathlib, time
from repro.quiet import quiet
def ticks(): return os.path.getsize("ticks") if os.path.exists("ticks") else 0
def goes_on(since):
    end = time.monotonic() + 20
    while ticks() == since and time.monotonic() < end: time.sleep(0.01)
    return ticks() > since
assert goes_on(0)
with quiet():
    before = ticks()
    time.sleep(0.5)
    assert ticks() == before
    if value: os.kill(os.getpid(), 9)
assert goes_on(before)
pathlib.Path("ready").touch()
"""


def test_scoreboard_runs_last_and_the_longest_first(workshop, monkeypatch):
    running, beside, order = set(), {}, []

    def pretend(job):
        running.add(job["id"])
        order.append(job["id"])
        time.sleep(0.1)
        beside[job["id"]] = set(running)
        running.remove(job["id"])
        return {"status": "done", "seconds": 0.1}

    monkeypatch.setattr("repro.study.runner.run_job", pretend)
    workshop.add("score", "pass", entry='needs = ["*"]')
    for name, seconds in {"a": 10, "b": 30, "c": 20}.items():
        workshop.add(name, "pass", entry=f"seconds = {{ quick = {seconds} }}")
    statuses(workshop, jobs=2)
    assert set(order[:2]) == {"b", "c"}
    assert order[2:] == ["a", "score"]
    assert beside["score"] == {"score"}


@pytest.mark.parametrize(("dies", "timed", "other"), [(0, "done", "done"), (1, "failed", "failed")])
def test_others_stand_still_while_a_notebook_measures_speed_and_go_on(workshop, dies, timed, other):
    # the one that ticks fails of itself where nobody tells it that all is ready: it was woken
    workshop.add("ticks", TICKS.replace("30", "5") if dies else TICKS)
    workshop.add("timed", QUIET, f"value = {dies}", entry="timing = true")
    assert statuses(workshop, jobs=2, timeout=60) == {"ticks": other, "timed": timed}
    if dies:
        failure = json.loads((workshop.project.build / "run/failed/ticks.json").read_text())
        assert failure["error"] == "AssertionError"


def test_notebooks_side_by_side_share_the_cores_and_timings_have_them_all(workshop, monkeypatch):
    beside = {}

    def pretend(job):
        beside[job["id"]] = job["beside"]
        time.sleep(0.1)
        return {"status": "done", "seconds": 0.1}

    monkeypatch.setattr("repro.study.runner.run_job", pretend)
    workshop.add("score", "pass", entry='needs = ["*"]')
    for name in "abt":
        workshop.add(name, "pass", entry=f"timing = {'true' if name == 't' else 'false'}")
    statuses(workshop, jobs=3)
    assert beside == {"a": 1, "b": 1, "t": 0, "score": 0}
    statuses(workshop, ids=["a"], jobs=3, fresh=True)
    assert beside["a"] == 0


@pytest.mark.parametrize(
    ("given", "beside", "threads"), [("", 0, None), ("", 1, 4), ("", 2, 2), ("", 9, 1), ("6", 1, 3), ("6", 0, None)]
)
def test_share_of_cores_keeps_to_a_limit_that_is_set(monkeypatch, given, beside, threads):
    monkeypatch.setenv("NUMBA_NUM_THREADS", given)
    monkeypatch.setattr("repro.study.provenance.cores", lambda: 8)
    assert execute._share_of_cores(beside).get("NUMBA_NUM_THREADS") == (threads and str(threads))


def test_notebook_beside_another_has_its_share_of_the_threads(workshop):
    for name in "ab":
        workshop.add(f"toy/{name}", "import os\nassert os.environ['NUMBA_NUM_THREADS'] == str(value)", "value = 0")
    share = max(1, cores() // 2)
    assert set(statuses(workshop, jobs=2, parameters=[f"value={share}"]).values()) == {"done"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ids": ["god"]}, "did you mean good"),
        ({"profile": "papre"}, "unknown profile"),
        ({"parameters": ["valu=1"]}, "did you mean value"),
        ({"parameters": ["value=x"]}, "must be a number"),
        ({"device": "cuda"}, "cuda|GPU"),
        ({"device": "tpu"}, "unknown device"),
        ({"jobs": 0}, "at least 1"),
        *(({"timeout": value}, "--timeout must be more than 0") for value in (0, -1, math.nan, math.inf)),
        ({"scheduler": "tcp://127.0.0.1:1"}, "dask|Dask"),
    ],
)
def test_wrong_request_is_refused_before_anything_runs(good, monkeypatch, settings, message):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(InputError, match=message):
        run(**{"project": good.project, "device": "serial", **settings})
    assert not list(good.project.build.rglob("*.json"))


def test_wrong_parameter_in_the_catalogue_names_the_entry(workshop):
    workshop.add("toy/a", "pass", entry="profiles = { quick = { valeu = 1 } }")
    with pytest.raises(InputError, match=r"toy/a, profile quick: unknown parameter 'valeu', did you mean value"):
        statuses(workshop)


def test_unwritable_folder_is_refused(good):
    good.project.build.write_text("a file where the folder should be")
    with pytest.raises(InputError, match="cannot write to .*; name another folder with --output"):
        run(project=good.project, device="serial")
    with pytest.raises(InputError, match="build is a file: name a folder"):
        run(project=good.project, device="serial", output=good.project.build)


def test_second_run_in_the_same_folder_is_refused(good):
    folder = good.project.build / "run"
    folder.mkdir(parents=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another run"):
            statuses(good)


def test_killed_and_interrupted_runs_leave_no_process_and_the_next_run_resumes(workshop):
    workshop.add("toy/first", "pass")
    pid = workshop.add("toy/sleeps", SLEEP, parameters="value = 60.0").parent / "pid"
    command = [sys.executable, "-m", "repro", "run", "--device", "serial", "--output"]
    command.append(str(workshop.project.build / "run"))
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    for number, code in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
        pid.unlink(missing_ok=True)
        # a shell that starts the tests in the background has them ignore what Ctrl-C sends
        heeding = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
        parent = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, **heeding)
        kernel = int(wait_for(pid))
        parent.send_signal(number)
        assert parent.wait(20) == code
        assert gone(kernel)
        assert {n for n in results(workshop) if ".jobs" not in n} == {"toy/first.json", "toy/first.ipynb"}
    assert b"toy/first: up to date" in parent.stderr.read()
    assert statuses(workshop, parameters=["sleeps:value=0.0"]) == {
        "toy/first": "up to date",
        "toy/sleeps": "done",
    }
    assert not (workshop.project.build / "run/.jobs").exists()


def wait_for(file: Path) -> str:
    for _ in range(300):
        if file.exists() and file.read_text():
            return file.read_text()
        time.sleep(0.1)
    raise AssertionError(f"{file.name} never came")


def gone(process: int) -> bool:
    for _ in range(100):
        if not psutil.pid_exists(process) or psutil.Process(process).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False
