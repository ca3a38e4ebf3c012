"""Runs with real kernels: results, failures, interruptions."""

import fcntl
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.processes import gone
from helpers.workshop import GOOD, run

from repro.errors import InputError
from repro.study.keep.provenance import cores
from repro.study.keep.results import look
from repro.study.run import execute
from repro.study.run.progress import Progress
from repro.study.run.runner import running

PACKAGE = Path(__file__).resolve().parents[2]
SLEEP = "import os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(value)"


def statuses(workshop, **settings) -> dict[str, str]:
    outcomes = run(project=workshop.project, output=workshop.project.build / "run", device="serial", **settings)
    return {outcome.id: outcome.status for outcome in outcomes}


def results(workshop) -> set[str]:
    folder = workshop.project.build / "run"
    return {str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file() and f.name != ".lock"}


@pytest.fixture
def pretend(monkeypatch) -> list[dict]:
    """Jobs are collected instead of run, and end well."""
    jobs = []

    def run_job(job):
        jobs.append(job)
        return {"status": "done", "seconds": 0.1}

    monkeypatch.setattr("repro.study.run.runner.run_job", run_job)
    return jobs


def test_result_is_kept_while_current_and_while_a_newer_run_fails(workshop):
    workshop.add("toy/good_speed", GOOD.replace("toy/good", "toy/good_speed") + "    assert value > 0.01")
    assert statuses(workshop) == {"toy/good_speed": "done"}
    assert statuses(workshop) == {"toy/good_speed": "up to date"}
    assert statuses(workshop, parameters=["value=0.001"]) == {"toy/good_speed": "failed"}
    result = {"toy/good_speed.json", "toy/good_speed.ipynb", "logs/toy/good_speed.log"}
    failure = {f"failed/toy/good_speed{ending}" for ending in (".json", ".ipynb", ".log")}
    assert results(workshop) == result | failure
    folder = workshop.project.build / "run"
    sidecar = look(folder, "toy/good_speed").sidecar
    assert sidecar["parameters"] == {"value": 0.5541}
    assert sidecar["claims"]["toy-001"] == {"measured": 0.5541}
    assert str(workshop.project.root) not in (folder / "toy/good_speed.ipynb").read_text()


def test_figures_that_a_notebook_draws_no_more_go_with_its_old_result(workshop):
    workshop.add("toy/plain", "pass")
    workshop.add("toy/other", "pass")
    folder = workshop.project.build / "run"
    workshop.finish("toy/other", folder=folder)
    for figures in (("a", "b"), ("b", "c")):
        workshop.finish("toy/plain", folder=folder, figures=figures)
    drawn = {f.name for f in (folder / "figures").iterdir()}
    assert drawn == {"toy-other-a.png", "toy-plain-b.png", "toy-plain-c.png"}
    assert [look(folder, name).trouble for name in ("toy/plain", "toy/other")] == ["", ""]


def test_the_largest_and_the_least_that_a_run_may_ask_for_are_taken(workshop, capsys, monkeypatch):
    def run_job(job):
        assert (job["timeout"], job["memory"]) in ((10_000_000, 100_000), (0.5, 0.25))
        return {"status": "done", "seconds": 125.0}

    monkeypatch.setattr("repro.study.run.runner.run_job", run_job)
    workshop.add("toy/plain", "pass")
    for limits in ({"timeout": 10_000_000, "memory": 100_000, "jobs": 1000}, {"timeout": 0.5, "memory": 0.25}):
        outcomes = run(project=workshop.project, output=workshop.project.build / "run", device="serial", **limits)
        assert [(outcome.status, outcome.seconds) for outcome in outcomes] == [("done", 125.0)]
        assert capsys.readouterr().err.endswith("done toy/plain in 2 min\n")


@pytest.fixture
def child(monkeypatch, tmp_path):
    """What `run_job` starts: child(code, **result) ends so, and leaves a log and, if it has any, a result."""
    asked, woken = [], []

    def ends(code: int, notebook: str = "", **result) -> dict:
        def run_child(command, work, root, wanted):
            asked.append((command, root, wanted()))
            job = json.loads((work / "job.json").read_text())
            (work / "log.txt").write_text("what it said")
            if notebook:
                (work / "out").mkdir()
                (work / "out" / f"{job['slug']}.ipynb").write_text(notebook)
            if result:
                (work / "result.json").write_text(json.dumps(result))
            return code

        monkeypatch.setattr(execute.guard, "run_child", run_child)
        job = {"work": str(tmp_path / "run/.jobs/toy-a"), "output": str(tmp_path / "run"), "root": "/the/root"}
        job |= {"timeout": 7, "memory": 0.5, "quiet": "the/lock", "id": "toy/a", "slug": "toy-a"}
        job |= dict.fromkeys(("profile", "machine", "device", "parameters", "changed"), "as asked")
        found = execute.run_job(job)
        assert not list((tmp_path / "run/.jobs").iterdir())
        return found

    (tmp_path / "run").mkdir()
    monkeypatch.setattr(execute, "is_held", lambda output: output == tmp_path / "run")
    monkeypatch.setattr(execute.exclusive_timing, "wake", woken.append)
    ends.asked, ends.woken, ends.folder = asked, woken, tmp_path / "run"
    return ends


def files_of(folder: Path) -> dict[str, str]:
    return {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file()}


def test_a_job_has_its_limits_from_its_guard_and_its_log_beside_its_result(child):
    assert child(0, status="done", seconds=3.0) == {"status": "done", "seconds": 3.0}
    ((command, root, wanted),) = child.asked
    # some seconds more than the kernel's client has, and half a GiB in bytes
    guard, worker = command[:6], command[6:]
    assert guard[1:4] == ["-m", "repro.study.run.guard", str(7 + execute.GRACE)]
    assert (Path(guard[4]).name, guard[5]) == ("cell", str(2**29))
    assert worker[1:3] == ["-m", "repro.study.run.execute"]
    assert (root, wanted, child.woken) == ("/the/root", True, ["the/lock"])
    assert files_of(child.folder) == {"logs/toy/a.log": "what it said"}


def test_a_job_that_fails_leaves_why_and_one_that_is_refused_leaves_nothing(child):
    failed = {"status": "failed", "error": "ValueError", "message": "no", "cell": 2, "seconds": 1.0}
    assert child(0, "the notebook", **failed) == failed
    kept = files_of(child.folder)
    why = json.loads(kept.pop("failed/toy/a.json"))
    facts = dict.fromkeys(("profile", "machine", "device", "parameters", "changed"), "as asked")
    assert why == {"id": "toy/a", **facts, **failed}
    assert kept == {"failed/toy/a.log": "what it said", "failed/toy/a.ipynb": "the notebook"}
    shutil.rmtree(child.folder / "failed")
    assert child(0, status="refused", error="InputError", message="tau", seconds=1.0)["status"] == "refused"
    assert files_of(child.folder) == {}


@pytest.mark.parametrize(
    ("code", "error", "message", "seconds"),
    [
        (124, "CellTimeoutError", "a cell took longer than 7 s", 7),
        (126, "MemoryLimit", "it took more than 0.5 GiB of memory", 0),
        (125, "ProcessDied", "the process ended with status 125", 0),
        (-9, "ProcessDied", "the process ended with status -9", 0),
    ],
)
def test_a_job_without_a_result_failed_by_how_its_guard_ended(child, code, error, message, seconds):
    found = child(code)
    told = {"status": "failed", "error": error, "message": message, "cell": None, "seconds": seconds}
    assert found == told
    assert json.loads((child.folder / "failed/toy/a.json").read_text()).items() >= told.items()
    # what a job has said for itself counts more than how it ended
    assert child(code, status="done", seconds=1.0) == {"status": "done", "seconds": 1.0}


def test_new_result_takes_an_earlier_failure_away(workshop):
    workshop.add("toy/plain", "pass")
    folder = workshop.project.build / "run"
    workshop.fail("toy/plain", folder)
    workshop.finish("toy/plain", folder=folder, figures=())
    assert results(workshop) == {"toy/plain.json", "toy/plain.ipynb"}


def test_notebook_that_hands_over_nothing_has_a_whole_result_that_says_what_it_was_made_from(workshop):
    commit = workshop.commit()
    workshop.add("toy/plain", "pass")
    assert statuses(workshop) == {"toy/plain": "done"}
    found = look(workshop.project.build / "run", "toy/plain")
    assert found.trouble == ""
    assert found.sidecar["claims"] == {}
    made = found.sidecar["provenance"]
    assert (made["commit"], made["dirty"]) == (commit, True)


def test_damaged_result_runs_again_with_a_line_that_names_the_file(workshop, capsys, pretend):
    workshop.add("toy/plain", "pass")
    folder = workshop.project.build / "run"
    (folder / "toy").mkdir(parents=True)
    (folder / "toy/plain.json").write_text('"x"')
    assert statuses(workshop) == {"toy/plain": "done"}
    assert "toy/plain runs again, it is not finished: toy/plain.json is damaged\n" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["toy/plain.ipynb", "figures/toy-plain-a.png"])
def test_result_with_a_missing_file_runs_again(workshop, pretend, name):
    workshop.add("toy/plain", "pass")
    folder = workshop.project.build / "run"
    workshop.finish("toy/plain", folder=folder)
    assert statuses(workshop) == {"toy/plain": "up to date"}
    (folder / name).unlink()
    assert statuses(workshop) == {"toy/plain": "done"}


OWN = f"""
import sys
from ipykernel.connect import get_connection_info
assert sys.executable == {sys.executable!r}
assert get_connection_info(unpack=True)["transport"] == "ipc"
"""


def test_notebook_runs_with_this_python_and_without_ports_whatever_kernel_it_names(workshop):
    gone = {"kernelspec": {"name": "gone", "display_name": "Gone", "language": "python"}}
    for name, metadata in {"none": {}, "gone": gone}.items():
        file = workshop.add(f"toy/{name}", OWN)
        file.write_text(json.dumps(json.loads(file.read_text()) | {"metadata": metadata}))
    assert statuses(workshop, jobs=2) == {"toy/none": "done", "toy/gone": "done"}


@pytest.fixture
def two(workshop):
    """A project with two results, of which one depends on the points of a figure."""
    (workshop.project.data / "published/toy_figures.csv").write_text("x,y\n")
    workshop.add("toy/a", "pass", entry='data = ["published/toy_figures.csv"]')
    workshop.add("toy/b", "pass")
    for name in ("toy/a", "toy/b"):
        workshop.finish(name, folder=workshop.project.build / "run")
    return workshop


@pytest.mark.parametrize("later", [0, 1e6])
def test_touching_a_file_reruns_nothing(two, pretend, later):
    moment = time.time() + later
    for path in (two.claims, two.project.notebooks / "toy/a.ipynb", two.project.package / "__init__.py"):
        os.utime(path, (moment, moment))
    assert statuses(two) == {"toy/a": "up to date", "toy/b": "up to date"}
    assert pretend == []


def test_changing_a_file_reruns_what_depends_on_it_and_says_why(two, pretend, capsys):
    (two.project.data / "published/toy_figures.csv").write_text("x,y\n1,2\n")
    assert statuses(two) == {"toy/a": "done", "toy/b": "up to date"}
    assert "toy/a runs again, it is out of date: data/published/toy_figures.csv changed\n" in capsys.readouterr().err


def test_fresh_runs_even_what_is_up_to_date(two, pretend):
    assert statuses(two, fresh=True) == {"toy/a": "done", "toy/b": "done"}


def test_failures_of_every_kind_leave_a_reason_and_stop_no_other(workshop):
    workshop.add("toy/raises", "1 / 0")
    workshop.add("toy/killed", "import os\nos.kill(os.getpid(), 9)")
    workshop.add("toy/slow", "import time\ntime.sleep(60)")
    # it speaks of a record, and there is none
    workshop.add("toy/unclosed", "# open_record")
    workshop.add("toy/after", "pass", entry='needs = ["toy/raises"]')
    workshop.add("toy/fine", "pass")
    found = statuses(workshop, jobs=3, timeout=2)
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
    finished = {name for name in results(workshop) if "failed" not in name}
    assert finished == {"toy/fine.json", "toy/fine.ipynb", "logs/toy/fine.log"}


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
    assert not workshop.project.build.exists()


TICKS = """
import pathlib, time
end = time.monotonic() + 20
while not pathlib.Path("over").exists():
    assert time.monotonic() < end
    with open("ticks", "a") as file: file.write(".")
    time.sleep(0.01)
"""
"""It goes on until all is over: so it ends well only if it is not left standing."""

QUIET = """
import os, pathlib, time
from repro.exclusive_timing import exclusive_timing
def ticks(): return os.path.getsize("ticks") if os.path.exists("ticks") else 0
def goes_on(since):
    end = time.monotonic() + 20
    while ticks() == since and time.monotonic() < end: time.sleep(0.01)
    return ticks() > since
assert goes_on(0)
with exclusive_timing():
    before = ticks()
    time.sleep(0.3)
    assert ticks() == before
    if value:
        pathlib.Path("over").touch()
        os.kill(os.getpid(), 9)
assert goes_on(before)
pathlib.Path("over").touch()
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

    monkeypatch.setattr("repro.study.run.runner.run_job", pretend)
    workshop.add("score", "pass", entry='needs = ["*"]')
    for name, seconds in {"a": 10, "b": 30, "c": 20}.items():
        workshop.add(name, "pass", entry=f"seconds = {{ quick = {seconds} }}")
    statuses(workshop, jobs=2)
    assert set(order[:2]) == {"b", "c"}
    assert order[2:] == ["a", "score"]
    assert beside["score"] == {"score"}


def test_who_looks_on_is_told_how_long_each_takes_and_which_run_alone(workshop, monkeypatch, pretend):
    told = []

    def shown(*given, **named):
        told.append((given, named))
        return Progress(*given, **named)

    monkeypatch.setattr("repro.study.run.runner.Progress", shown)
    workshop.add("long", "pass", entry="seconds = { quick = 30 }")
    workshop.add("timed", "pass", entry="seconds = { quick = 20 }\ntiming = true")
    workshop.add("score", "pass", entry='seconds = { quick = 10 }\nneeds = ["*"]')
    statuses(workshop, jobs=2)
    (((expected, jobs), named),) = told
    assert (expected, jobs) == ({"long": 30, "timed": 20, "score": 10}, 2)
    assert {name: sorted(books) for name, books in named.items()} == {"alone": ["score", "timed"]}


def test_others_stand_still_while_a_notebook_measures_speed_and_go_on(workshop):
    workshop.add("ticks", TICKS)
    workshop.add("timed", QUIET, "value = 0", entry="timing = true")
    assert statuses(workshop, jobs=2, timeout=30) == {"ticks": "done", "timed": "done"}


def test_others_go_on_when_a_notebook_dies_while_it_measures_speed(workshop):
    workshop.add("ticks", TICKS)
    workshop.add("timed", QUIET, "value = 1", entry="timing = true")
    assert statuses(workshop, jobs=2, timeout=30) == {"ticks": "done", "timed": "failed"}
    # not before: all had stood still when it died
    failure = json.loads((workshop.project.build / "run/failed/timed.json").read_text())
    assert failure["error"] == "DeadKernelError"


def test_notebooks_side_by_side_share_the_cores_and_timings_have_them_all(workshop, monkeypatch):
    beside = {}

    def pretend(job):
        beside[job["id"]] = job["beside"]
        time.sleep(0.1)
        return {"status": "done", "seconds": 0.1}

    monkeypatch.setattr("repro.study.run.runner.run_job", pretend)
    workshop.add("score", "pass", entry='needs = ["*"]')
    for name in "abt":
        workshop.add(name, "pass", entry=f"timing = {'true' if name == 't' else 'false'}")
    statuses(workshop, jobs=3)
    assert beside == {"a": 2, "b": 2, "t": 0, "score": 0}
    statuses(workshop, jobs=2, fresh=True)
    assert beside == {"a": 1, "b": 1, "t": 0, "score": 0}
    statuses(workshop, ids=["a"], jobs=3, fresh=True)
    assert beside["a"] == 0


@pytest.mark.parametrize(
    ("given", "beside", "threads"), [("", 0, None), ("", 1, 4), ("", 2, 2), ("", 9, 1), ("6", 1, 3), ("6", 0, None)]
)
def test_share_of_cores_keeps_to_a_limit_that_is_set(monkeypatch, given, beside, threads):
    monkeypatch.setenv("NUMBA_NUM_THREADS", given)
    monkeypatch.setattr("repro.study.keep.provenance.cores", lambda: 8)
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
        *(({"jobs": value}, "--jobs must be from 1 to 1000") for value in (0, -1, 1001)),
        *(({"memory": value}, "--memory must be from 0.25") for value in (0, 0.24, -1, 100_001, math.nan, math.inf)),
        *(({"timeout": value}, "--timeout must be more than 0") for value in (0, -1, 10_000_001, math.nan, math.inf)),
        ({"scheduler": "tcp://127.0.0.1:1"}, "dask|Dask"),
    ],
)
def test_wrong_request_is_refused_before_anything_runs(good, monkeypatch, settings, message):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr("repro.study.run.cluster.ANSWER", 1)
    with pytest.raises(InputError, match=message):
        run(**{"project": good.project, "device": "serial", **settings})
    assert not good.project.build.exists()


@pytest.mark.parametrize(
    "place", ["", ".", "..", "notebooks", "docs/mine", "build/../repro/mine", ".git/mine", ".link/mine"]
)
def test_results_among_the_sources_are_refused(good, monkeypatch, tmp_path_factory, place):
    monkeypatch.chdir(good.project.root)
    Path(".link").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(InputError, match="would put results among the sources: name a folder such as build/mine"):
        run(project=good.project, device="serial", output=Path(place))


def test_results_among_the_sources_of_another_checkout_or_among_other_files_are_refused(good, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "notebooks").mkdir(parents=True)
    (other / "notebooks/catalogue.toml").touch()
    with pytest.raises(InputError, match="would put results among the sources"):
        run(project=good.project, device="serial", output=other / "notebooks")
    mine = tmp_path_factory.mktemp("mine")
    (mine / "scoreboard.md").write_text("mine")
    with pytest.raises(InputError, match="holds files that no run has made: name a new folder or an empty one"):
        run(project=good.project, device="serial", output=mine)
    assert [file.read_text() for file in mine.iterdir()] == ["mine"]


@pytest.mark.parametrize("home", ["/", "/home/me"])
def test_paths_of_this_machine_leave_the_texts_of_a_notebook_and_its_pictures_stay(tmp_path, monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    letters = f"iVBOR//home/me/{sys.prefix}/w0KGgo="
    outputs = [{"data": {"image/png": letters, "text/plain": [f"{home}/data // 2\n", f"{tmp_path}/a.png"]}}]
    book = tmp_path / "a.ipynb"
    book.write_text(json.dumps({"cells": [{"outputs": outputs, "source": "https://a.b // {tmp_path}"}]}))
    execute._scrub(book, {"root": "/nowhere"})
    (cell,) = json.loads(book.read_text())["cells"]
    shown = cell["outputs"][0]["data"]
    assert shown["image/png"] == letters
    assert shown["text/plain"] == ["//data // 2\n" if home == "/" else "~/data // 2\n", "a.png"]
    assert cell["source"] == "https://a.b // {tmp_path}"


def test_links_to_pages_lead_there_from_where_a_notebook_is_published(tmp_path):
    book, other = tmp_path / "a.ipynb", "[b](b.ipynb) and [c](../toy/c.ipynb)"
    book.write_text(json.dumps({"cells": [{"source": ["[a](../../docs/protocol.md), ", other]}]}))
    execute._scrub(book, {"root": "/nowhere"})
    (cell,) = json.loads(book.read_text())["cells"]
    assert cell["source"] == ["[a](../../../docs/protocol.md), ", other]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("NUMBA_NUM_THREADS", "0", "NUMBA_NUM_THREADS = '0': must be a whole number from 1 to 1000, or unset it"),
        ("NUMBA_NUM_THREADS", "two", "NUMBA_NUM_THREADS = 'two': must be a whole number"),
    ],
)
def test_environment_in_which_nothing_could_run_is_refused(good, monkeypatch, name, value, message):
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=message):
        run(project=good.project, device="serial")
    assert not good.project.build.exists()


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
    workshop.finish("toy/first", folder=workshop.project.build / "run", figures=())
    pid = workshop.add("toy/sleeps", SLEEP, parameters="value = 60.0").parent / "pid"
    command = [sys.executable, "-m", "repro", "run", "--device", "serial", "--output"]
    command.append(str(workshop.project.build / "run"))
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    kept = "toy/sleeps was running; 1 of 2 results are kept; the same command goes on from there"
    # of two signals at once the system says which comes first
    ends = {"KILL": (-9,), "INT INT": (130,), "HUP TERM": (129, 143)}
    for names, codes in ends.items():
        pid.unlink(missing_ok=True)
        # a shell that starts the tests in the background has them ignore what Ctrl-C sends
        heeding = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
        parent = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, **heeding)
        kernel = int(wait_for(pid))
        for name in names.split():
            parent.send_signal(signal.Signals[f"SIG{name}"])
        said = parent.communicate(timeout=20)[1]
        assert parent.returncode in codes
        assert gone(kernel)
        assert {n for n in results(workshop) if ".jobs" not in n} == {"toy/first.json", "toy/first.ipynb"}
        lines = [line for line in said.splitlines() if line.startswith("repro: ")]
        assert [line.partition("; ")[2] for line in lines] == ([] if names == "KILL" else [kept])
        assert "Traceback" not in said
    assert "toy/first: up to date" in said
    assert statuses(workshop, parameters=["sleeps:value=0.01"]) == {
        "toy/first": "up to date",
        "toy/sleeps": "done",
    }
    assert not (workshop.project.build / "run/.jobs").exists()


def test_a_run_whose_folder_is_deleted_or_whose_output_nobody_reads_ends_in_a_line(workshop):
    folder = workshop.project.build / "run"
    pid = workshop.add("toy/sleeps", SLEEP, parameters="value = 60.0").parent / "pid"
    command = [sys.executable, "-m", "repro", "run", "--device", "serial", "--output", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    parent = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    kernel = int(wait_for(pid))
    shutil.rmtree(folder)
    said = parent.communicate(timeout=30)[1].splitlines()[-1]
    assert parent.returncode == 2
    assert said.startswith(f"repro: {folder}, the folder of this run, was deleted while it ran; toy/sleeps was running")
    assert gone(kernel)
    assert not folder.exists()
    workshop.finish("toy/sleeps", folder=folder, figures=())
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(command, env=environment, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writer)
    lines = ended.stderr.splitlines()
    assert lines[-1:] == ["repro: nobody reads the output any more; what was finished before is kept"]
    assert ended.returncode == 141
    assert "Error" not in ended.stderr


def test_status_says_which_notebook_runs_now(workshop):
    pid = workshop.add("toy/sleeps", SLEEP, parameters="value = 1.0").parent / "pid"
    folder = workshop.project.build / "run"
    with ThreadPoolExecutor() as pool:
        going = pool.submit(statuses, workshop)
        wait_for(pid)
        assert list(running(folder)) == ["toy/sleeps"]
        assert 0 < running(folder)["toy/sleeps"] < 60
        assert going.result(60) == {"toy/sleeps": "done"}
    assert running(folder) == {}
    # what a killed run left is no run
    (folder / ".jobs/toy-sleeps-1").mkdir(parents=True)
    (folder / ".jobs/toy-sleeps-1/job.json").write_text('{"id": "toy/sleeps"}')
    assert running(folder) == {}


def wait_for(file: Path) -> str:
    for _ in range(300):
        if file.exists() and file.read_text():
            return file.read_text()
        time.sleep(0.1)
    raise AssertionError(f"{file.name} never came")
