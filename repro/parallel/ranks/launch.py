"""Starts a program on several ranks: what tests and notebooks call instead of `mpiexec`."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import psutil

from repro.declared import Above, Flag, Kind, OrNone, Text, Whole, checked
from repro.errors import InputError
from repro.hardware import cores
from repro.leftovers import UNMAPPED, private_folder, sweep_shared_memory

from .rank_errors import LINE, SAID

#: Open MPI refuses what MPICH does unasked
_OPEN_MPI = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none")

#: all ranks are on this machine: UCX, below MPICH, shall listen to no other
_HERE = {"UCX_NET_DEVICES": "lo"} if sys.platform == "linux" else {}

#: cores that this process may use
_CORES = cores()

#: most ranks a core: they take turns, and each has its own memory
_MOST_A_CORE = 64


class RanksError(RuntimeError):
    """A program on several ranks did not end well; the message is one line, `said` are the lines of its ranks."""

    def __init__(self, message: str, said: Iterable[str] = ()):
        super().__init__(message)
        self.said = tuple(said)


@checked
def launch(
    ranks: Annotated[int, Whole(1, _MOST_A_CORE * _CORES)],
    target: Annotated[str | Path, Kind(str, Path, wanted="a module (package.module) or a script (file.py)")],
    arguments: Annotated[Iterable, Kind(list, tuple, wanted="a list, of which each entry is one argument")] = (),
    timeout: Annotated[float | None, OrNone(Above(0, "s"))] = None,
    environment: Annotated[Mapping | None, OrNone(Kind(dict, wanted="a dict of texts"))] = None,
    shown: Annotated[bool, Flag()] = False,
) -> str:
    """Run a module (`package.module`) or script (`file.py`) on a number of ranks; returns what it printed.

    The ranks share the cores: each gets the same number of threads. One rank needs no MPI. `timeout` in seconds. What
    they print is `shown` at once, and then not returned, if that is wanted.
    Raises InputError where MPI is missing or nothing can be started, RanksError where a rank failed or the time was up.
    """
    words, environment = [str(target), *map(str, arguments)], environment or {}
    for what, texts in (("arguments", words), ("environment", [*environment, *environment.values()])):
        for text in texts:
            # the operating system would see the end of a text at its zero byte
            Text().check(f"{what}: each", text)
    if not str(target) or (str(target).endswith(".py") and not Path(target).is_file()):
        raise InputError(f"target = {str(target)!r}: no such script")
    command = [*_mpiexec(ranks), sys.executable, "-m", "repro.parallel.ranks.rank_main", *words]
    own = {"REPRO_RANKS": str(ranks), "NUMBA_NUM_THREADS": str(max(1, _CORES // ranks))}
    sweep_shared_memory()
    with private_folder() as folder:
        own[SAID] = str(folder / "said")
        status, output, errors = _run(command, _HERE | os.environ | own | environment, timeout, shown)
        said = _said(Path(own[SAID]), errors)
    if status is None:
        raise RanksError(f"{target} on {ranks} ranks did not end within {timeout:g} s", said)
    if status:
        # ranks that are killed leave theirs
        time.sleep(UNMAPPED)
        sweep_shared_memory()
        named = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        reason = said[0] if said else (errors.strip() or named).splitlines()[-1]
        raise RanksError(f"{target} on {ranks} ranks ended: {reason}", said)
    return output or ""


def _run(command: list[str], environment: Mapping, timeout: float | None, shown: bool) -> tuple[int | None, str, str]:
    """The exit status of a command, None if its time was up, and what it has written on both outputs."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": None if shown else subprocess.PIPE}
    streams |= {"stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=environment, **streams)
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        return None, *process.communicate()
    except BaseException:
        _end(process)
        raise
    return process.returncode, output, errors


def _mpiexec(ranks: int) -> list[str]:
    """The command that starts several ranks: that of the MPI installed beside this Python, else the machine's."""
    if ranks == 1:
        return []
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if not found:
        raise InputError("several ranks need MPI, and there is no mpiexec: pip install mpi4py mpich, or use one rank")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    return [found, *(_OPEN_MPI if "Open MPI" in version or "OpenRTE" in version else ()), "-n", str(ranks)]


def _said(file: Path, errors: str) -> list[str]:
    """What the ranks have said in a file or on the error output, in the order in which they did, once each."""
    text = f"{file.read_text()}\n{errors}" if file.exists() else errors
    # two ranks may have written into one line
    return list(dict.fromkeys(match.group().strip() for match in LINE.finditer(text)))


def _end(process: subprocess.Popen) -> None:
    """End a process and all that it has started."""
    family = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    _, alive = psutil.wait_procs(family, timeout=3)
    for member in (*alive, process):
        with suppress(psutil.Error, ProcessLookupError):
            member.kill()
