"""Where a number comes from: commit, versions, machine. No paths, host names or user names."""

import os
import platform
import re
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

import psutil

from repro.hardware import cpu_model

from . import manifest

PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "numba-cuda",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "cuda-toolkit",
    "matplotlib",
    "papermill",
)


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def gpu() -> dict:
    """Name, memory and driver of the first NVIDIA GPU; empty where there is none."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader", "--id=0"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    parts = [part.strip() for part in answer.splitlines()[0].split(",")] if answer.strip() else []
    return dict(zip(("name", "memory", "driver"), parts, strict=True)) if len(parts) == 3 else {}


def resolve_device(name: str) -> str:
    """The device that `name` stands for here ("auto" is cuda or threads); DeviceError if it is not there."""
    from repro.parallel.select import available

    return available(name)


def machine_name(device: str) -> str:
    """Folder name of this machine: its GPU, else its processor and cores."""
    if device == "cuda":
        return _slug(gpu().get("name") or "cuda-gpu")
    model = re.sub(r"\(.*?\)|@.*|\b(CPU|Processor|\d+-Core)\b", " ", cpu_model())
    return _slug(f"{model} {cores()} cores")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    return dict(_installed())


@cache
def _installed() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def collect(root: Path) -> dict:
    """Everything about the code and the machine."""
    return {
        **manifest.commit(root),
        "versions": versions(),
        "cpu": cpu_model(),
        "cores": cores(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpu": gpu(),
        "os": f"{platform.system()} {platform.machine()}",
    }
