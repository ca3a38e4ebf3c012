"""Child processes that never outlive this one."""

import os
import subprocess
import threading
from pathlib import Path

_running: set[subprocess.Popen] = set()
_lock = threading.Lock()


def run_child(command: list[str], work: Path, root: str) -> int:
    """Run a child in a session of its own until it ends; its standard input is its lifeline to us."""
    package = Path(__file__).resolve().parents[2]
    paths = [str(package), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {
        "REPRO_ROOT": root,
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    env["PYTHONPATH"] = os.pathsep.join(p for p in paths if p)
    with open(work / "log.txt", "wb") as log:
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=env, start_new_session=True
        )
        with _lock:
            _running.add(child)
        try:
            return child.wait()
        finally:
            with _lock:
                _running.discard(child)
            child.stdin.close()


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
