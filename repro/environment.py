"""What of a user's environment reaches a run: what is named here, and it is told in the result or changes none.

A run starts from defaults of its own. Variables that choose another kernel, look, locale, compiler or library mode are
taken out of its environment; those that a machine may need, and that can change a digit or a speed, count as a part of
the result, as versions do.
"""

import hashlib
import os
import sys
from collections.abc import Mapping
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path

from .files import read_toml


class Fate(Enum):
    """What becomes of a variable."""

    FREE = "reaches a run and changes no result"
    COUNTED = "reaches a run and is a part of its result"
    DROPPED = "has no effect on a run"


_TABLE = read_toml(Path(__file__).with_suffix(".toml"))
_RULES = [(Fate[rule["fate"]], rule["names"].split()) for rule in _TABLE["rules"]]

#: what a run has in the place of what it does not get
OWN = _TABLE["own"]

#: files that Python runs at its start, wherever they lie
STARTED = ("sitecustomize", "usercustomize")

#: settings of Numba that it reads in the working directory
NUMBA_FILE = ".numba_config.yaml"

_PACKAGE = Path(__file__).resolve().parents[1]


def fate(name: str) -> Fate:
    """What becomes of a variable."""
    return next((kind for kind, some in _RULES if any(fnmatchcase(name, one) for one in some)), Fate.FREE)


def own_environment(given: Mapping[str, str], folder: Path, caches: Path) -> dict[str, str]:
    """The environment of a run: `given` without what has no effect, settings in `folder`, fonts known in `caches`."""
    kept = {name: value for name, value in given.items() if fate(name) is not Fate.DROPPED}
    places = {
        "IPYTHONDIR": folder / "ipython",
        "JUPYTER_CONFIG_DIR": folder / "jupyter",
        "JUPYTER_DATA_DIR": folder / "jupyter",
        "JUPYTER_RUNTIME_DIR": folder / "jupyter",
        "MPLCONFIGDIR": caches / "matplotlib",
    }
    paths = os.pathsep.join([str(_PACKAGE), *_python_path(given)])
    return kept | OWN | {name: str(place) for name, place in places.items()} | {"PYTHONPATH": paths}


def counted(given: Mapping[str, str]) -> dict[str, str]:
    """What of an environment, and of what this Python ran at its start, is a part of a result."""
    found = {name: given[name] for name in sorted(given) if fate(name) is Fate.COUNTED and given[name]}
    found["PYTHONPATH"] = os.pathsep.join(_python_path(given))
    # a name for folders of this machine, which no result tells
    found = {name: _digest(text.encode()) if "/" in text else text for name, text in found.items() if text}
    files = {name: getattr(sys.modules.get(name), "__file__", None) for name in STARTED}
    return found | {name: _digest(Path(file).read_bytes()) for name, file in files.items() if file}


def _python_path(given: Mapping[str, str]) -> list[str]:
    """The folders in which the user has Python look for modules, without that of this package."""
    folders = given.get("PYTHONPATH", "").split(os.pathsep)
    return [folder for folder in folders if folder and Path(folder).resolve() != _PACKAGE]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def dropped_files(given: Mapping[str, str], home: Path) -> list[Path]:
    """The user's files of settings that would change figures, cells or the kernel, and have no effect on a run."""
    config = Path(given.get("XDG_CONFIG_HOME") or home / ".config")
    looks = [given.get("MATPLOTLIBRC"), given.get("MPLCONFIGDIR"), config / "matplotlib", home / ".matplotlib"]
    own = home / ("Library/Jupyter" if sys.platform == "darwin" else ".local/share/jupyter")
    data = [*given.get("JUPYTER_PATH", "").split(os.pathsep), given.get("JUPYTER_DATA_DIR"), own]
    python = Path(given.get("IPYTHONDIR") or home / ".ipython") / "profile_default"
    named = [Path(place) / file for place in filter(None, looks) for file in ("", "matplotlibrc")]
    named += [Path(place) / "kernels/python3/kernel.json" for place in filter(None, data)]
    named += [*python.glob("ipython*_config.*"), *(python / "startup").glob("*.*py")]
    return [file for file in named if file.is_file()]
