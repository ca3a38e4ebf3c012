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


class Fate(Enum):
    """What becomes of a variable."""

    FREE = "reaches a run and changes no result"
    COUNTED = "reaches a run and is a part of its result"
    DROPPED = "has no effect on a run"


#: names, with * for any end; the first that fits decides, and other variables are free
RULES = (
    # where software and what it keeps lies, and how many threads kernels take
    (Fate.FREE, "NUMBA_CACHE_DIR NUMBA_NUM_THREADS NUMBA_CUDA_DRIVER NUMBA_CUDA_INCLUDE_PATH CUPY_CACHE_DIR"),
    (Fate.FREE, "PYTHONHOME PYTHONUSERBASE PYTHONNOUSERSITE PYTHONPLATLIBDIR PYTHONDONTWRITEBYTECODE"),
    (Fate.FREE, "PYTHONPYCACHEPREFIX CUPY_GPU_MEMORY_LIMIT"),
    # other libraries, and how those for linear algebra share their sums
    (Fate.COUNTED, "PYTHONPATH LD_PRELOAD LD_LIBRARY_PATH DYLD_* GLIBC_TUNABLES OMP_* GOMP_* KMP_* MKL_* OPENBLAS_*"),
    (Fate.COUNTED, "GOTO_* BLIS_* VECLIB_* NUMEXPR_* NUMBA_CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY"),
    # compilers, precision and the ways of libraries
    (Fate.DROPPED, "NUMBA_* NUMPY_* NPY_* SCIPY_* PANDAS_* CUPY_* NVIDIA_TF32_OVERRIDE CUDA_LAUNCH_BLOCKING"),
    # the interpreter, its kernel and their files of settings
    (Fate.DROPPED, "PYTHON* IPYTHON* IPYKERNEL* JUPYTER* MPL* MATPLOTLIB* PYDEVD_*"),
    # languages, places and terminals
    (Fate.DROPPED, "LC_* LANG LANGUAGE TZ COLUMNS LINES TQDM_* SOURCE_DATE_EPOCH NO_COLOR FORCE_COLOR CLICOLOR*"),
)

#: what a run has in the place of what it does not get
OWN = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    # no module of the folder that somebody stands in
    "PYTHONSAFEPATH": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # as nvidia-smi counts, which names the machine
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
}

#: files that Python runs at its start, wherever they lie
STARTED = ("sitecustomize", "usercustomize")

#: settings of Numba that it reads in the working directory
NUMBA_FILE = ".numba_config.yaml"

_PACKAGE = Path(__file__).resolve().parents[1]


def fate(name: str) -> Fate:
    """What becomes of a variable."""
    return next((kind for kind, some in RULES if any(fnmatchcase(name, one) for one in some.split())), Fate.FREE)


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
