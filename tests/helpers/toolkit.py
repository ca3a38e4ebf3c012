"""What the GPU's compiler makes of kernels, asked in a process without the simulator, where no GPU is needed."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent


def ptx_of(script: str, *arguments: str) -> list[dict]:
    """What `helpers.script` prints of each kernel's PTX; skips where the toolkit's wheels are missing."""
    if not _toolkit_installed():
        pytest.skip("the toolkit wheels that compile without a GPU are not installed (numba-cuda[cu13])")
    paths = os.pathsep.join(map(str, (TESTS.parent, TESTS)))
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "0", "PYTHONPATH": paths}
    command = [sys.executable, "-m", f"helpers.{script}", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _toolkit_installed() -> bool:
    names = {(dist.metadata["Name"] or "").lower() for dist in importlib.metadata.distributions()}
    return any(name.startswith(("nvidia-nvvm", "nvidia-cuda-nvcc")) for name in names)
