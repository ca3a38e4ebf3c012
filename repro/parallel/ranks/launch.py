"""Starts a program on several ranks: what tests and notebooks call instead of `mpiexec`."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from math import isfinite
from numbers import Real
from pathlib import Path

import psutil

from repro.errors import InputError, require_whole

from .last_words import LINE

#: Open MPI refuses what MPICH does unasked
_OPEN_MPI = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none")

#: most ranks a core: they take turns, and each has its own memory
_MOST_A_CORE = 64


class RanksError(RuntimeError):
    """A program on several ranks did not end well; the message is one line, `said` are the lines of its ranks."""

    def __init__(self, message: str, said: Iterable[str] = ()):
        super().__init__(message)
        self.said = tuple(said)


def launch(
    ranks: int,
    target: str | Path,
    arguments: Iterable = (),
    timeout: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a module (`package.module`) or script (`file.py`) on a number of ranks; returns what it printed.

    The ranks share the cores: each gets the same number of threads. One rank needs no MPI. `timeout` in seconds.
    Raises InputError where MPI is missing or nothing can be started, RanksError where a rank failed or the time was up.
    """
    require_whole("ranks", ranks, 1, _MOST_A_CORE * _cores())
    _require_program(target, arguments, environment or {})
    if timeout is not None and not (isinstance(timeout, Real) and isfinite(timeout) and timeout > 0):
        raise InputError(f"timeout = {timeout!r}: must be None or a number of seconds above 0")
    words = [str(target), *map(str, arguments)]
    _require_no_zero("arguments", words)
    start = [*_mpiexec(), "-n", str(ranks)] if ranks > 1 else []
    command = [*start, sys.executable, "-m", "repro.parallel.ranks.guarded", *words]
    own = {"REPRO_RANKS": str(ranks), "NUMBA_NUM_THREADS": str(max(1, _cores() // ranks))}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | own | dict(environment or {}),
    )
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        _, errors = process.communicate()
        raise RanksError(f"{target} on {ranks} ranks did not end within {timeout:g} s", _said(errors)) from None
    except BaseException:
        _end(process)
        raise
    if process.returncode:
        said = _said(errors)
        last = (errors.strip() or _named(process.returncode)).splitlines()[-1]
        raise RanksError(f"{target} on {ranks} ranks ended: {said[0] if said else last}", said)
    return output


def _require_program(target, arguments, environment) -> None:
    """Refuse what cannot be a program, what it is told, or what it finds in its environment."""
    if not isinstance(target, str | Path) or not str(target):
        raise InputError(f"target = {target!r}: must be a module (package.module) or a script (file.py)")
    if str(target).endswith(".py") and not Path(target).is_file():
        raise InputError(f"target = {target}: no such script")
    if isinstance(arguments, str) or not isinstance(arguments, Iterable):
        raise InputError(f"arguments = {arguments!r}: must be a list, of which each entry is one argument")
    texts = [*environment.keys(), *environment.values()] if isinstance(environment, Mapping) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"environment = {environment!r}: must be a dict of texts")
    _require_no_zero("environment", texts)


def _require_no_zero(what: str, texts: Iterable[str]) -> None:
    """Refuse texts at whose zero byte the operating system would see their end."""
    for text in texts:
        if "\0" in text:
            raise InputError(f"{what}: {text!r} has a zero byte, which no program can be given")


def _named(status: int) -> str:
    """An exit status, or the signal that ended the process."""
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _mpiexec() -> list[str]:
    """The command that starts ranks: the one installed beside this Python, else the machine's."""
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if not found:
        raise InputError("several ranks need MPI, and there is no mpiexec: pip install mpi4py mpich, or use one rank")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    return [found, *(_OPEN_MPI if "Open MPI" in version or "OpenRTE" in version else ())]


def _said(errors: str) -> list[str]:
    """What the ranks have said, in the order in which they did, once each."""
    # two ranks may have written into one line
    return list(dict.fromkeys(match.group().strip() for match in LINE.finditer(errors)))


def _end(process: subprocess.Popen) -> None:
    """End a process and all that it has started."""
    family = [process, *psutil.Process(process.pid).children(recursive=True)]
    process.terminate()
    psutil.wait_procs(family[1:], timeout=3)
    for member in family:
        try:
            member.kill()
        except (psutil.NoSuchProcess, ProcessLookupError):
            continue
