"""python -m repro.parallel.ranks.guarded MODULE_OR_SCRIPT [ARGUMENTS]: a rank that never dies in silence.

An error, `sys.exit` with an error or a signal that kills the process ends all ranks, with a line that names this one.
A second process, which only waits for the first, says what that one no longer can.
"""

import ctypes
import os
import runpy
import signal
import sys
import time
import traceback
from pathlib import Path

from repro.errors import InputError

from .last_words import process_number, say, started_processes

_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""

#: seconds for the other ranks to find that one is dead and to say what they waited for
_LAST_WORDS = 3.0


def main() -> None:
    """Run the program that the command line names as one rank."""
    # before anything starts threads, which a fork would lose
    finished = _under_supervision() if started_processes() > 1 else lambda: None
    del sys.argv[0]
    if reason := _reason_of_end(sys.argv[0]):
        _end_all(reason)
    finished()


def _reason_of_end(target: str) -> str:
    """Run a module or script to its end; what went wrong, empty if nothing did."""
    from .world import world

    try:
        _run(target)
    except SystemExit as end:
        if end.code not in (None, 0):
            return str(end.code) if isinstance(end.code, str) else f"sys.exit({end.code})"
    except BaseException as error:
        return _described(error)
    try:
        world().finish()
    except Exception as error:
        return _described(error)
    return ""


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
    text = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    # a refusal is about the request, anything else about the code
    return text if isinstance(error, InputError) or not frames else f"{text} ({frames[-1].name}, {_where(frames[-1])})"


def _where(frame: traceback.FrameSummary) -> str:
    return f"{Path(frame.filename).name} line {frame.lineno}"


def _end_all(reason: str) -> None:
    from .world import world

    try:
        world().end(reason)
    except InputError:
        # it is the reason: the ranks do not know of each other, and each says so
        say(process_number(), started_processes(), reason)
        sys.exit(1)


def _under_supervision():
    """Go on in a second process, for which the first one waits; returns what to call when all is done."""
    done, finished = os.pipe()
    child = os.fork()
    if child:
        os.close(finished)
        os._exit(_supervise(child, done))
    os.close(done)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    return lambda: os.write(finished, b"1")


def _supervise(child: int, done: int) -> int:
    """Wait for a rank's process; its exit status, after saying what it could not say itself."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        reason = f"process {child} was killed by {signal.Signals(-code).name}"
    elif code == 0 and not os.read(done, 1):
        reason = f"process {child} left without a word"
    else:
        return code
    say(process_number(), started_processes(), reason)
    time.sleep(_LAST_WORDS)
    return 1


if __name__ == "__main__":
    main()
