"""python -m repro.parallel.ranks.rank_main MODULE_OR_SCRIPT [ARGUMENTS]: a rank that never dies in silence.

An error, `sys.exit` with an error or a signal that kills the process ends all ranks, with a line that names this one. A
second process, which only waits for the first, says what that one no longer can.
"""

import ctypes
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path

from repro.errors import InputError

from .rank_errors import say, started_processes

#: exit status of a rank whose program has come to its end; with 0 it may have left in the midst of it
_FINISHED = 77


def main() -> None:
    """Run the program that the command line names as one rank."""
    several = started_processes() > 1
    # before anything starts threads, which a fork would lose
    if several and (child := os.fork()):
        os._exit(_supervise(child))
    if several and sys.platform == "linux":
        # PR_SET_PDEATHSIG: it dies with its parent
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    del sys.argv[0]
    try:
        _run(sys.argv[0])
    except SystemExit as end:
        reason = end.code if isinstance(end.code, str) else f"sys.exit({end.code})" if end.code else ""
    except BaseException as error:
        reason = _described(error)
    else:
        reason = ""
    _end(reason)
    sys.exit(_FINISHED if several else 0)


def _run(target: str) -> None:
    from .world import world

    # first of all: who has joined the others can end them
    world()
    if target.endswith(".py"):
        sys.path.insert(0, str(Path(target).resolve().parent))
        runpy.run_path(target, run_name="__main__")
    else:
        runpy.run_module(target, run_name="__main__", alter_sys=True)


def _described(error: BaseException) -> str:
    text, frames = f"{type(error).__name__}: {error}", traceback.extract_tb(error.__traceback__)
    # a refusal is about the request, anything else about the code
    if isinstance(error, InputError) or not frames:
        return text
    return f"{text} ({frames[-1].name}, {Path(frames[-1].filename).name} line {frames[-1].lineno})"


def _end(reason: str) -> None:
    """Wait for the other ranks at the end of the program, or end them all for a reason."""
    from .world import world

    try:
        world().end(reason) if reason else world().finish()
    except InputError as error:
        # the ranks do not know of each other, and each says so
        say(reason or str(error))
        sys.exit(1)


def _supervise(child: int) -> int:
    """Wait for a rank's process; its exit status, after saying what it could not say itself."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        say(f"process {child} was killed by {signal.Signals(-code).name}")
    elif code == 0:
        say(f"process {child} left without a word")
    return 0 if code == _FINISHED else max(code, 1)


if __name__ == "__main__":
    main()
