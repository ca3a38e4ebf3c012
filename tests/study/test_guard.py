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
    clock = tmp_path / "cell"
    clock.touch()
    command = [sys.executable, "-m", "repro.study.run.guard", "1", str(clock), "0", sys.executable, "-c", NATIVE]
    guard = subprocess.Popen(
        command, stdin=subprocess.PIPE, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(PACKAGE)}
    )
    assert guard.wait(20) == 124
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGILL, signal.SIGKILL])
def test_child_that_a_signal_kills_has_the_status_of_a_shell_which_is_none_of_the_guard_itself(tmp_path, number):
    # whoever starts the tests may have told them, and so their children, to ignore a signal
    code = f"import os, signal; signal.signal({int(number)}, signal.SIG_DFL); os.kill(os.getpid(), {int(number)})"
    kills = [sys.executable, "-c", code if number != signal.SIGKILL else "import os; os.kill(os.getpid(), 9)"]
    command = [sys.executable, "-m", "repro.study.run.guard", "0", str(tmp_path / "cell"), "0", *kills]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(PACKAGE)})
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
