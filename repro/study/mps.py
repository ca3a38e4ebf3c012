"""NVIDIA's Multi-Process Service, for the notebooks that share a GPU.

Without it a GPU gives each process its turn, so that small kernels of two notebooks run one after the other on a GPU
that each of them leaves mostly idle. With it they run side by side. The service is this run's own and ends with it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from shutil import rmtree, which
from tempfile import mkdtemp

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


class Service:
    """The service while notebooks share the GPU of this machine; without one they share it by turns."""

    def __init__(self, say: Callable[[str], None]):
        self._say, self._tried = say, False
        self._guard: subprocess.Popen | None = None
        self._folder: Path | None = None

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
        return _places(self._folder) if self._folder else {}

    def _begin(self) -> str:
        """Start the service and let a first process in; why that failed, or nothing."""
        if which(PROGRAM) is None:
            return f"there is no {PROGRAM}"
        # sockets have short names: not in the folder of the run
        self._folder = Path(mkdtemp(prefix="mps"))
        environment = os.environ | _places(self._folder)
        # a guard has no time limit here; it ends the service when its standard input closes
        command = [sys.executable, "-m", "repro.study.guard", "0", str(self._folder / "clock"), "0", PROGRAM, "-f"]
        with open(self._folder / "log.txt", "wb") as log:
            self._guard = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, start_new_session=True
            )
        return self._let_in(environment)

    def _let_in(self, environment: Mapping[str, str]) -> str:
        until = time.monotonic() + PATIENCE
        while not (self._folder / "control").exists():
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
                environment = os.environ | _places(self._folder)
                subprocess.run([PROGRAM], input=b"quit\n", env=environment, capture_output=True, timeout=PATIENCE)
            self._guard.stdin.close()
            try:
                self._guard.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._guard.kill()
        if self._folder:
            rmtree(self._folder, ignore_errors=True)
        self._guard = self._folder = None


def _places(folder: Path) -> dict[str, str]:
    return {PIPES: str(folder), LOGS: str(folder)}
