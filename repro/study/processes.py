"""Child processes that never outlive this one."""

import os
import subprocess
import threading
from pathlib import Path

_running: set[subprocess.Popen] = set()
_lock = threading.Lock()


class Stopped(Exception):
    """The child was ended by `stop_children`."""


def run_child(command: list[str], work: Path, root: str) -> int:
    """Run a child in a session of its own until it ends; its standard input is its lifeline to us.

    Returns its exit status; Stopped if it was told to end.
    """
    package = Path(__file__).resolve().parents[2]
    paths = [str(package), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {
        "REPRO_ROOT": root,
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    # the notebook's inline backend shall choose itself
    env.pop("MPLBACKEND", None)
    env["PYTHONPATH"] = os.pathsep.join(p for p in paths if p)
    with open(work / "log.txt", "wb") as log:
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=env, start_new_session=True
        )
        with _lock:
            _running.add(child)
        try:
            status = child.wait()
        finally:
            with _lock:
                _running.discard(child)
            told_to_end = child.stdin.closed
            child.stdin.close()
    if told_to_end:
        raise Stopped
    return status


def stop_children(patience: float = 10) -> None:
    """End all children: cut their lifeline, and kill what does not end within `patience` seconds."""
    with _lock:
        children = list(_running)
    for child in children:
        child.stdin.close()
    for child in children:
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            child.kill()
