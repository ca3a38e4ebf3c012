"""What a run folder holds of a notebook, read with care: files may be missing, cut off or not ours."""

import math
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repro.files import read_json

from . import cells
from .verdicts import Verdict

RUN = {"profile": str, "machine": str, "fingerprint": str, "parameters": dict}
"""What the runner notes in every finished result, besides two numbers: when it began and how long it took."""


@dataclass(frozen=True)
class Result:
    """What there is of one notebook."""

    sidecar: dict | None
    """The finished result, None without one."""
    failure: dict | None
    """Why the notebook failed last, None if it did not."""
    trouble: str
    """Which file is damaged or missing, so that the notebook is not finished; empty if none is."""


def look(folder: Path, identifier: str) -> Result:
    """The result of notebook `identifier` in a run folder."""
    sidecar, damaged = _read(folder, f"{identifier}.json", _is_result)
    failure, odd = _read(folder, f"failed/{identifier}.json", _is_failure)
    return Result(sidecar, failure, damaged or odd or _incomplete(folder, identifier, sidecar))


def figure_files(sidecar: dict | None) -> list[str]:
    """Files of all figures of a result, relative to the run folder."""
    names = [name for figure in (sidecar or {}).get("figures", {}).values() for name in figure["files"]]
    return list(dict.fromkeys(names))


def reason(failure: dict) -> str:
    """Why a notebook failed, in one line."""
    return ": ".join(text for text in (failure["error"], failure["message"]) if text)


def _read(folder: Path, name: str, is_right) -> tuple[dict | None, str]:
    content = read_json(folder / name)
    if is_right(content):
        return content, ""
    return None, f"{name} is damaged" if (folder / name).exists() else ""


def _incomplete(folder: Path, identifier: str, sidecar: dict | None) -> str:
    if sidecar is None:
        return ""
    notebook = f"{identifier}.ipynb"
    missing = [name for name in (notebook, *figure_files(sidecar)) if not (folder / name).is_file()]
    if missing:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        return f"{missing[0]} is missing{more}"
    return "" if cells.read(folder / notebook) is not None else f"{notebook} is damaged"


def _is_failure(content) -> bool:
    return isinstance(content, dict) and all(isinstance(content.get(key), str) for key in ("error", "message"))


def _is_result(content) -> bool:
    if not isinstance(content, dict) or not _is_run(content.get("run")):
        return False
    claims, figures = content.get("claims"), content.get("figures")
    if not isinstance(claims, dict) or not isinstance(figures, dict):
        return False
    return all(map(_is_verdict, claims.values())) and all(map(_is_figure, figures.values()))


def _is_run(run) -> bool:
    if not isinstance(run, dict) or run.get("finished") is not True:
        return False
    if not all(isinstance(run.get(key), kind) for key, kind in RUN.items()):
        return False
    if not all(_is_number(run.get(key)) for key in ("started", "seconds")):
        return False
    # results from before there was this key have none
    if not isinstance(run.get("changed", {}), dict):
        return False
    # the machine's name becomes a folder
    return re.fullmatch(r"\w[\w.-]*", run["machine"]) is not None


def _is_number(value) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _is_verdict(claim) -> bool:
    if not isinstance(claim, dict) or not {"measured", "reason"} <= claim.keys():
        return False
    return claim.get("verdict") in list(Verdict) and isinstance(claim["reason"], str)


def _is_figure(figure) -> bool:
    files = figure.get("files") if isinstance(figure, dict) else None
    return isinstance(files, list) and all(isinstance(name, str) and _below_figures(name) for name in files)


def _below_figures(name: str) -> bool:
    """No file elsewhere may be replaced or removed in the name of a figure."""
    parts = PurePosixPath(name).parts
    return len(parts) > 1 and parts[0] == "figures" and ".." not in parts
