"""While a speed is measured, the other processes of the run stand still; afterwards, come what may, they go on."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from repro import exclusive_timing

COUNTS = "import time\nwhile True: time.sleep(0.01)"
BEGIN = "import os\nfrom repro.exclusive_timing import exclusive_timing\n"
DIES = BEGIN + "with exclusive_timing(): os.kill(os.getpid(), 9)"


@pytest.fixture
def start(tmp_path):
    """start(code, path): a process in whose environment the run's file is `path`."""
    started = []

    def run(code: str, path) -> psutil.Process:
        child = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {exclusive_timing.VARIABLE: str(path)})
        started.append(child)
        return psutil.Process(child.pid)

    yield run
    for child in started:
        child.kill()
        child.wait()


def soon(true) -> bool:
    """Whether true() is so within ten seconds."""
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def becomes(process: psutil.Process, stopped: bool) -> bool:
    """Whether the process is soon stopped, or not stopped."""
    return soon(lambda: (process.status() == psutil.STATUS_STOPPED) == stopped)


def goes_on(process: psutil.Process) -> bool:
    """Whether the process is not stopped, a moment later either: a signal takes its time."""
    time.sleep(0.2)
    return process.status() != psutil.STATUS_STOPPED


class Orphan:
    """A process that belongs to the run without being this one's child."""

    code = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', {COUNTS!r}], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
"""

    def __init__(self, path):
        environment = os.environ | {exclusive_timing.VARIABLE: str(path)}
        found = subprocess.run([sys.executable, "-c", self.code], env=environment, stdout=subprocess.PIPE, check=True)
        self.process = psutil.Process(int(found.stdout))


@pytest.fixture
def orphan(tmp_path):
    made = Orphan(tmp_path / "quiet").process
    yield made
    made.kill()


def test_others_of_the_run_stand_still_and_go_on(tmp_path, monkeypatch, orphan):
    monkeypatch.setenv(exclusive_timing.VARIABLE, str(tmp_path / "quiet"))
    with exclusive_timing.exclusive_timing():
        assert becomes(orphan, stopped=True)
        with exclusive_timing.exclusive_timing():
            pass
        assert orphan.status() == psutil.STATUS_STOPPED
    assert becomes(orphan, stopped=False)


def test_they_go_on_after_an_error(tmp_path, monkeypatch, orphan):
    monkeypatch.setenv(exclusive_timing.VARIABLE, str(tmp_path / "quiet"))
    with pytest.raises(ZeroDivisionError), exclusive_timing.exclusive_timing():
        _ = 1 / 0
    assert becomes(orphan, stopped=False)


def test_processes_of_another_run_are_let_alone(tmp_path, monkeypatch, orphan):
    monkeypatch.setenv(exclusive_timing.VARIABLE, str(tmp_path / "another"))
    with exclusive_timing.exclusive_timing():
        assert goes_on(orphan)


def test_children_of_who_measures_are_let_alone(tmp_path, monkeypatch, start, orphan):
    monkeypatch.setenv(exclusive_timing.VARIABLE, str(tmp_path / "quiet"))
    child = start(COUNTS, tmp_path / "quiet")
    with exclusive_timing.exclusive_timing():
        assert becomes(orphan, stopped=True)
        assert goes_on(child)


def test_without_a_run_nothing_is_stopped(monkeypatch, orphan):
    monkeypatch.delenv(exclusive_timing.VARIABLE, raising=False)
    with exclusive_timing.exclusive_timing():
        assert goes_on(orphan)


def test_one_process_at_a_time_has_it_quiet(tmp_path, monkeypatch, start):
    monkeypatch.setenv(exclusive_timing.VARIABLE, str(tmp_path / "quiet"))
    code = BEGIN + f"with exclusive_timing(): open({str(tmp_path / 'had')!r}, 'w').close()"
    with exclusive_timing.exclusive_timing():
        start(code, tmp_path / "quiet")
        time.sleep(0.5)
        assert not (tmp_path / "had").exists()
    assert soon((tmp_path / "had").exists)


def test_who_was_stopped_by_a_process_that_died_is_woken(tmp_path, start, orphan):
    dying = start(DIES, tmp_path / "quiet")
    assert dying.wait(20) in (-signal.SIGKILL, None)
    assert becomes(orphan, stopped=True)
    exclusive_timing.wake(str(tmp_path / "quiet"))
    assert becomes(orphan, stopped=False)


def test_nobody_is_woken_while_a_speed_is_measured(tmp_path, monkeypatch, orphan):
    monkeypatch.setenv(exclusive_timing.VARIABLE, str(tmp_path / "quiet"))
    with exclusive_timing.exclusive_timing():
        exclusive_timing.wake(str(tmp_path / "quiet"))
        assert becomes(orphan, stopped=True)


def test_what_starts_anew_waits_until_nobody_measures(tmp_path, monkeypatch, start):
    path = tmp_path / "quiet"
    monkeypatch.setenv(exclusive_timing.VARIABLE, str(path))
    code = (
        "import os\nfrom repro.exclusive_timing import VARIABLE, no_measuring\n"
        f"with no_measuring(os.environ.pop(VARIABLE)): open({str(tmp_path / 'began')!r}, 'w').close()"
    )
    with exclusive_timing.exclusive_timing():
        # not of the run yet, as a notebook's process before it has its kernel
        process = start(code, path)
        process.resume()
        time.sleep(0.5)
        assert not (tmp_path / "began").exists()
    assert soon((tmp_path / "began").exists)
