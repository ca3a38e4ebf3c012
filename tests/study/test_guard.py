"""Notebooks that hang, print without end, or lose who runs them: ended, counted, and nothing of them is left."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import nbformat
import psutil
import pytest
from helpers.processes import gone
from helpers.workshop import run

from repro.study.run import guard
from repro.study.run.client import MOST_OUTPUT

PACKAGE = Path(__file__).resolve().parents[2]

#: a native call that does not let the interpreter go on
NATIVE = """
import ctypes, os, pathlib
pathlib.Path("pid").write_text(str(os.getpid()))
ctypes.PyDLL(None).sleep(600)
"""


def run_all(workshop, **settings) -> list:
    return run(project=workshop.project, output=workshop.project.build / "run", device="serial", **settings)


def test_endless_output_is_bounded_and_counted_and_does_not_stop_the_clock(workshop):
    """Nor is what has its time and its memory ended by their limits."""
    lines = "for i in range(300): print(f'{i:4}' + 'x' * 100_000)\nimport time; time.sleep(1.5)"
    workshop.add("toy/prints", lines)
    (outcome,) = run_all(workshop, timeout=60, memory=4)
    assert outcome.status == "done"
    book = nbformat.read(workshop.project.build / "run/toy/prints.ipynb", as_version=4)
    texts = {output["name"]: output["text"] for cell in book.cells for output in cell.get("outputs", ())}
    assert len(texts["stdout"]) <= MOST_OUTPUT
    # what came first is kept, in its order
    assert [int(line[:4]) for line in texts["stdout"].split("\n")[:50]] == list(range(50))
    assert "MB of output left out: a notebook keeps 10 MB" in texts["stderr"]


def test_error_of_any_length_is_told_in_a_line(workshop):
    workshop.add("toy/raises", "raise ValueError('begin ' + 'x' * 5_000_000)")
    (outcome,) = run_all(workshop)
    assert outcome.message.startswith("ValueError: begin x")
    assert (workshop.project.build / "run/failed/toy/raises.ipynb").stat().st_size < 1_000_000


def test_streams_are_joined_as_a_terminal_shows_them_and_pictures_keep_their_place(workshop):
    lines = [
        "import sys",
        "from IPython.display import Markdown, display",
        "print('one')",
        "sys.stderr.write('10 %\\r100 %\\n'); sys.stderr.flush()",
        "display(Markdown('picture'))",
        "print('two\\r\\nthree')",
    ]
    workshop.add("toy/prints", "\n".join(lines))
    run_all(workshop)
    book = nbformat.read(workshop.project.build / "run/toy/prints.ipynb", as_version=4)
    outputs = next(cell.outputs for cell in book.cells if "sys.stderr" in cell.source)
    found = [output.get("text") or output["data"]["text/markdown"] for output in outputs]
    assert found == ["one\ntwo\nthree\n", "100 %\n", "picture"]


def test_native_call_that_holds_the_interpreter_ends_with_its_time(workshop):
    workshop.add("toy/hangs", NATIVE)
    (outcome,) = run_all(workshop, timeout=2)
    assert (outcome.status, outcome.message) == ("failed", "CellTimeoutError: a cell took longer than 2 s")
    assert gone(int((workshop.project.notebooks / "toy/pid").read_text()))


def test_worker_that_hangs_itself_is_ended_by_its_guard(tmp_path):
    (tmp_path / "cell").touch()
    assert guarded(NATIVE, seconds="1", cwd=tmp_path).wait(20) == 124
    assert gone(int((tmp_path / "pid").read_text()))


#: a child that says who it is and where it may write, and stays
STAYS = """
import os, pathlib, time
pathlib.Path("said").write_text(f"{os.getpid()} {os.environ['REPRO_PRIVATE']}")
time.sleep(600)
"""


def guarded(code: str, *, seconds="0", memory="0", **more) -> subprocess.Popen:
    """A guard over a child that runs this code."""
    command = [sys.executable, "-m", "repro.study.run.guard", seconds, "cell", memory, sys.executable, "-c", code]
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(PACKAGE)}, **more)


@pytest.mark.parametrize(("end", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), ("nobody is there", 125)])
def test_a_guard_that_is_told_to_end_takes_its_child_and_its_private_folder_along(tmp_path, end, status):
    process = guarded(STAYS, cwd=tmp_path)
    said = tmp_path / "said"
    while not (said.exists() and said.read_text()):
        assert process.poll() is None
        time.sleep(0.02)
    child, _, folder = said.read_text().partition(" ")
    assert Path(folder).stat().st_mode & 0o777 == 0o700
    if end == "nobody is there":
        process.stdin.close()
    else:
        process.send_signal(end)
    assert process.wait(20) == status
    assert gone(int(child))
    assert not Path(folder).exists()


def test_the_memory_of_a_child_and_of_its_own_counts_together(tmp_path):
    """Each of the two keeps less than the limit."""
    held = "held = bytearray(b'x') * 80_000_000\nimport subprocess, sys, time"
    both = f"{held}\nsubprocess.Popen([sys.executable, '-c', {held + chr(10) + 'time.sleep(60)'!r}])\ntime.sleep(60)"
    assert guarded(both, memory="150_000_000", cwd=tmp_path).wait(20) == 126


def test_a_child_has_its_root_and_its_log_and_is_forgotten_when_it_has_ended(tmp_path):
    code = "import os, sys; print(os.environ['REPRO_ROOT']); sys.stdout.flush(); sys.exit('and why')"
    assert guard.run_child([sys.executable, "-c", code], tmp_path, "/the/root") == 1
    assert (tmp_path / "log.txt").read_text() == "/the/root\nand why\n"
    assert not guard._running


def test_children_that_do_not_end_by_themselves_are_killed_after_some_patience(monkeypatch):
    """The lifelines of all are cut before any is waited for."""
    told = []

    def child(name: str, ends: bool) -> SimpleNamespace:
        def wait(patience):
            told.append((name, patience))
            if not ends:
                raise subprocess.TimeoutExpired(name, patience)
            return 0

        close = lambda: told.append((name, "cut"))  # noqa: E731
        return SimpleNamespace(
            stdin=SimpleNamespace(close=close), wait=wait, kill=lambda: told.append((name, "killed"))
        )

    monkeypatch.setattr(guard, "_running", [child("stubborn", False), child("ready", True)])
    guard.stop_children()
    both = [("stubborn", "cut"), ("ready", "cut")]
    assert told == [*both, ("stubborn", 10), ("stubborn", "killed"), ("ready", 10)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGILL, signal.SIGKILL])
def test_child_that_a_signal_kills_has_the_status_of_a_shell_which_is_none_of_the_guard_itself(tmp_path, number):
    # whoever starts the tests may have told them, and so their children, to ignore a signal
    code = f"import os, signal; signal.signal({int(number)}, signal.SIG_DFL); os.kill(os.getpid(), {int(number)})"
    kills = code if number != signal.SIGKILL else "import os; os.kill(os.getpid(), 9)"
    process = guarded(kills, cwd=tmp_path)
    assert process.wait(20) == 128 + number
    assert 128 + number not in (guard.LATE, guard.ALONE, guard.HEAVY)


def test_notebook_above_the_limit_of_memory_is_ended_and_says_so(workshop):
    workshop.add("toy/heavy", "import time\nheld = b'x' * 700_000_000\ntime.sleep(60)")
    (outcome,) = run_all(workshop, memory=0.5)
    assert (outcome.status, outcome.message) == ("failed", "MemoryLimit: it took more than 0.5 GiB of memory")


def test_what_frees_shared_memory_is_killed_too_where_ten_looks_were_not_enough(monkeypatch):
    """What else is there goes at once."""
    looks, killed = [], {"worker": [], "tracker": []}
    members = {
        name: SimpleNamespace(kill=lambda name=name: killed[name].append(len(looks)), cmdline=lambda words=words: words)
        for name, words in (
            ("worker", ["python"]),
            ("tracker", ["-c", "from multiprocessing.resource_tracker import x"]),
        )
    }
    process = SimpleNamespace(children=lambda recursive: [members[name] for name in members if not killed[name]])
    monkeypatch.setattr(guard.psutil, "wait_procs", lambda family, timeout: looks.append(timeout))
    guard._end(process)
    assert killed == {"worker": [0], "tracker": [10]}


@pytest.mark.parametrize("depth", [0, 1, 2], ids=["guard", "worker", "kernel"])
def test_whoever_is_killed_during_a_native_call_the_run_says_so_and_nothing_is_left(workshop, depth):
    pid = workshop.add("toy/hangs", NATIVE).parent / "pid"
    killed = threading.Thread(target=kill_above, args=(pid, 2 - depth))
    killed.start()
    (outcome,) = run_all(workshop)
    killed.join()
    assert outcome.status == "failed"
    assert ("DeadKernelError" if depth == 2 else "ProcessDied") in outcome.message
    assert gone(int(pid.read_text()))
    failed = workshop.project.build / "run/failed/toy"
    assert json.loads((failed / "hangs.json").read_text())["error"]
    assert (failed / "hangs.log").is_file()


def kill_above(pid: Path, generations: int) -> None:
    """Kill the process that wrote its number there, or one of its ancestors."""
    while not (pid.exists() and pid.read_text()):
        time.sleep(0.05)
    process = psutil.Process(int(pid.read_text()))
    for _ in range(generations):
        process = process.parent()
    process.send_signal(signal.SIGKILL)
