"""Watches over a child from a process of its own: `python -m repro.study.run.guard SECONDS CLOCK BYTES COMMAND...`.

What executes a notebook may hang where no thread of its own gets to run, or be killed and leave a kernel that computes
on. The guard does nothing but look, and ends the child with all that it started when the child ends, when standard
input closes (the run is gone, or wants an end), when the file CLOCK has stood there for SECONDS (0: for ever is right),
and when all of them together keep more than BYTES in memory (0: any number is right).

Here also: how a run starts such children, and NVIDIA's Multi-Process Service for notebooks that share a GPU. Without it
a GPU gives each process its turn, so that small kernels of two notebooks run one after the other on a GPU that each of
them leaves mostly idle. The service is this run's own and ends with it.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import rmtree, which
from tempfile import mkdtemp

import psutil

from repro.environment import own_environment
from repro.files import cache_folder
from repro.leftovers import private_folder, sweep_shared_memory

#: the variable that names a folder for what only the child and its kernel may read; it goes with the guard
PRIVATE = "REPRO_PRIVATE"

#: seconds between two looks at the child, and at the memory, which takes longer
LOOK, WEIGH = 0.1, 1.0

#: exit status after the time limit, when nobody is there any more to be told, and above the limit of memory
LATE, ALONE, HEAVY = 124, 125, 126

_SET_DEATH_SIGNAL, _ADOPT_ORPHANS = 1, 36

# loaded here: between fork and exec it would be too late
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Have the system kill this process when its parent ends; only Linux can."""
    if _libc:
        _libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def main(seconds: float, clock: Path, memory: int, command: list[str]) -> int:
    """Run the command; its exit status, LATE, ALONE, or HEAVY."""
    if _libc:
        # whoever loses its parent becomes ours, so that nobody is overlooked
        _libc.prctl(_ADOPT_ORPHANS, 1)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    sweep_shared_memory()
    with private_folder() as folder:
        environment = os.environ | {PRIVATE: str(folder)}
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment, preexec_fn=die_with_parent)
        try:
            status = _watch(child, seconds, clock, memory)
        finally:
            _end(psutil.Process())
            sweep_shared_memory()
    return status if status >= 0 else 128 - status


def _watch(child: subprocess.Popen, seconds: float, clock: Path, memory: int) -> int:
    weighed, cell, begun = time.monotonic(), None, time.monotonic()
    while (status := child.poll()) is None:
        heard, _, _ = select.select([0], [], [], LOOK)
        if heard and not os.read(0, 4096):
            return ALONE
        # by our own clock: that of the day may jump
        if (now := _stamp(clock)) != cell or now is None:
            cell, begun = now, time.monotonic()
        if seconds and time.monotonic() - begun > seconds:
            return LATE
        if memory and time.monotonic() - weighed > WEIGH:
            weighed, held = time.monotonic(), 0
            for member in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    held += member.memory_info().rss
            if held > memory:
                return HEAVY
    return status


def _stamp(clock: Path) -> int | None:
    """What changes when another cell begins; None while nothing is being timed."""
    try:
        return clock.stat().st_mtime_ns
    except OSError:
        return None


def _end(process: psutil.Process) -> None:
    """Kill all that the process started, and what that started meanwhile.

    Python's own that frees the shared memory of a killed process gets a moment to do so.
    """
    spared = 10
    while family := process.children(recursive=True):
        for member in family:
            with suppress(psutil.Error):
                if not spared or "multiprocessing.resource_tracker" not in " ".join(member.cmdline()):
                    member.kill()
        psutil.wait_procs(family, timeout=LOOK)
        spared = max(0, spared - 1)


_running: set[subprocess.Popen] = set()
_lock = threading.Lock()


class Stopped(Exception):
    """The child was ended by `stop_children`."""


def run_child(command: list[str], work: Path, root: str, wanted: Callable[[], bool] = lambda: True) -> int:
    """Run a child in a session of its own until it ends or is not `wanted`; its standard input is its lifeline to us.

    Returns its exit status; Stopped if it was told to end.
    """
    env = own_environment(os.environ, work, cache_folder()) | {"REPRO_ROOT": root}
    with open(work / "log.txt", "wb") as log:
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=env, start_new_session=True
        )
        with _lock:
            _running.add(child)
        try:
            while (status := _status(child, WEIGH)) is None:
                if not wanted():
                    child.stdin.close()
        finally:
            with _lock:
                _running.discard(child)
            told_to_end = child.stdin.closed
            child.stdin.close()
    if told_to_end:
        raise Stopped
    return status


def _status(child: subprocess.Popen, patience: float) -> int | None:
    """Exit status of a child, None if it does not end within `patience` seconds."""
    with suppress(subprocess.TimeoutExpired):
        return child.wait(patience)
    return None


def stop_children(patience: float = 10) -> None:
    """End all children: cut their lifeline, and kill what does not end within `patience` seconds."""
    with _lock:
        children = list(_running)
    for child in children:
        child.stdin.close()
    for child in children:
        if _status(child, patience) is None:
            child.kill()


PROGRAM = "nvidia-cuda-mps-control"
PIPES, LOGS = "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"
PATIENCE = 30
"""Seconds in which the service must begin, let a first process in, or end."""

#: opens and closes the GPU as every notebook will; exit status 0 if it can
KNOCK = """
import ctypes, sys
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
sys.exit(cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
"""


class MpsService:
    """The service while notebooks share the GPU of this machine; without one they share it by turns."""

    def __init__(self, say: Callable[[str], None]):
        self._say, self._tried = say, False
        self._guard: subprocess.Popen | None = None
        self._variables: dict[str, str] = {}

    def variables(self) -> dict[str, str]:
        """What the environment of a notebook must say; begins the service on the first call.

        Empty where the user has a service of their own, and where there is none, which is said once.
        """
        if os.environ.get(PIPES):
            return {}
        if not self._tried:
            self._tried = True
            if lacking := self._begin():
                self.end()
                self._say(f"notebooks take turns on the GPU: {lacking}")
        return self._variables

    def _begin(self) -> str:
        """Start the service and let a first process in; why that failed, or nothing."""
        if which(PROGRAM) is None:
            return f"there is no {PROGRAM}"
        # sockets have short names: not in the folder of the run
        folder = Path(mkdtemp(prefix="mps"))
        self._variables = {PIPES: str(folder), LOGS: str(folder)}
        environment = os.environ | self._variables
        # a guard has no time limit here; it ends the service when its standard input closes
        command = [sys.executable, "-m", "repro.study.run.guard", "0", str(folder / "clock"), "0", PROGRAM, "-f"]
        with open(folder / "log.txt", "wb") as log:
            self._guard = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, start_new_session=True
            )
        until = time.monotonic() + PATIENCE
        while not (folder / "control").exists():
            if self._guard.poll() is not None or time.monotonic() > until:
                return f"{PROGRAM} did not begin"
            time.sleep(0.1)
        with suppress(subprocess.TimeoutExpired):
            knock = subprocess.run([sys.executable, "-c", KNOCK], env=environment, timeout=PATIENCE)
            if knock.returncode == 0:
                return ""
        return f"{PROGRAM} let no process in"

    def end(self) -> None:
        """End the service, if it began."""
        if self._guard:
            with suppress(OSError, subprocess.SubprocessError):
                environment = os.environ | self._variables
                subprocess.run([PROGRAM], input=b"quit\n", env=environment, capture_output=True, timeout=PATIENCE)
            self._guard.stdin.close()
            if _status(self._guard, PATIENCE) is None:
                self._guard.kill()
        if self._variables:
            rmtree(self._variables[PIPES], ignore_errors=True)
        self._guard, self._variables = None, {}


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]))
