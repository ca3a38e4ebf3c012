"""Writes the environments of conda, requirements.txt and requirements-site.txt from pyproject.toml.

python tools/sync_requirements.py                environment.yml and environment-gpu.yml only
python tools/sync_requirements.py --lock         the other two too (needs the command uv and a package index)
python tools/sync_requirements.py --lock-site    requirements-site.txt only, which fits the requirements.txt at hand
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Generated from pyproject.toml by tools/sync_requirements.py; do not edit.\n"
COMPILE = (
    "uv pip compile pyproject.toml --universal --python-version 3.11 "
    "--no-emit-index-url --no-header --no-annotate --upgrade --quiet"
)


ENVIRONMENTS = {"environment.yml": "cpu", "environment-gpu.yml": "cuda13"}
"""The environments of conda, and the extra that each installs."""
DRIVER = """\
# Wants a driver of CUDA 13; for one of CUDA 12 replace cuda13 by cuda12. A toolkit newer than the driver does not work:
# if nvidia-smi names CUDA 13.0, add "      - cuda-toolkit<13.1" above the last line.
"""


def environment(project: dict, extra: str) -> str:
    """Text of an environment: conda packages of the same names; what has a platform marker, or a GPU, comes by pip."""
    requirements = project["dependencies"]
    conda = [r for r in requirements if ";" not in r]
    by_pip = [r for r in requirements if ";" in r]
    gpu = extra != "cpu"
    lines = [f"name: gpu-papers-repro{'-gpu' if gpu else ''}", "channels:", "  - conda-forge", "dependencies:"]
    lines += [f"  - python{project['requires-python']}", "  - pip"]
    lines += [f"  - {r}" for r in conda]
    lines += ["  - pip:"] + [f"      - {r}" for r in by_pip] + [f"      - -e .[{extra}]"]
    return HEADER + (DRIVER if gpu else "") + "\n".join(lines) + "\n"


def lock() -> None:
    """Write requirements.txt: what a run and the tests need."""
    _write("requirements.txt", _pins("--extra", "test"))


def lock_site() -> None:
    """Write requirements-site.txt: what `make site` needs beside requirements.txt, whose pins hold."""
    # without their markers, which are wider there
    known = {line.split(" ;")[0] for line in (ROOT / "requirements.txt").read_text().splitlines()}
    found = _pins("--extra", "site", "--constraint", "requirements.txt")
    _write("requirements-site.txt", [line for line in found if line.split(" ;")[0] not in known])


def _pins(*options: str) -> list[str]:
    found = subprocess.run([*COMPILE.split(), *options], cwd=ROOT, check=True, capture_output=True, text=True)
    return found.stdout.splitlines()


def _write(name: str, pins: list[str]) -> None:
    (ROOT / name).write_text(HEADER + "\n".join(pins) + "\n")


def main() -> None:
    """Write the generated files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, extra in ENVIRONMENTS.items():
        (ROOT / name).write_text(environment(project, extra))
    if "--lock" in sys.argv[1:]:
        lock()
    if {"--lock", "--lock-site"} & set(sys.argv[1:]):
        lock_site()


if __name__ == "__main__":
    main()
