"""Writes environment.yml and requirements.txt from pyproject.toml.

python tools/sync_requirements.py           environment.yml only
python tools/sync_requirements.py --lock    requirements.txt too (needs the command uv and a package index)
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Generated from pyproject.toml by tools/sync_requirements.py; do not edit.\n"
LOCK = (
    "uv pip compile pyproject.toml --extra test --universal --python-version 3.11 "
    "--no-emit-index-url --no-header --no-annotate --upgrade --quiet --output-file requirements.txt"
)


def environment(project: dict) -> str:
    """Text of environment.yml: conda packages of the same names; what has a platform marker comes by pip."""
    requirements = project["dependencies"]
    conda = [r for r in requirements if ";" not in r]
    by_pip = [r for r in requirements if ";" in r]
    lines = ["name: gpu-papers-repro", "channels:", "  - conda-forge", "dependencies:"]
    lines += [f"  - python{project['requires-python']}", "  - pip"]
    lines += [f"  - {r}" for r in conda]
    lines += ["  - pip:"] + [f"      - {r}" for r in by_pip] + ["      - -e ."]
    return HEADER + "\n".join(lines) + "\n"


def main() -> None:
    """Write the generated files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (ROOT / "environment.yml").write_text(environment(project))
    if "--lock" in sys.argv[1:]:
        subprocess.run(LOCK.split(), cwd=ROOT, check=True)
        lock = ROOT / "requirements.txt"
        lock.write_text(HEADER + lock.read_text())


if __name__ == "__main__":
    main()
