"""What a run folder holds of a notebook, read with care: files may be missing, cut off or not ours."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repro.errors import InputError
from repro.files import read_json

from . import cells, seal
from .evidence import Evidence, read

RUN = {"profile": str, "machine": str, "device": str, "depends": dict, "parameters": dict}
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
    path = folder / f"{identifier}.json"
    sidecar, trouble = _read(folder, f"{identifier}.json", lambda content: flaw_of(content, identifier))
    failure, odd = _read(folder, f"failed/{identifier}.json", lambda content: "" if _is_failure(content) else "damaged")
    if sidecar is not None:
        trouble = _first(seal.flaws(path, lambda name: folder / name), identifier, folder)
        if trouble.startswith(path.name):
            sidecar = None
    return Result(sidecar, failure, trouble or odd)


def _first(flaws: list[str], identifier: str, folder: Path) -> str:
    if flaws:
        return flaws[0] + (f", and {len(flaws) - 1} more" if len(flaws) > 1 else "")
    return "" if cells.read(folder / f"{identifier}.ipynb") is not None else f"{identifier}.ipynb is damaged"


def evidence_of(sidecar: dict) -> dict[str, Evidence]:
    """What a result says about each claim."""
    return {claim: read(claim, entry) for claim, entry in sidecar["claims"].items()}


def figure_files(sidecar: dict | None) -> list[str]:
    """Files of all figures of a result, relative to the run folder."""
    names = [name for figure in (sidecar or {}).get("figures", {}).values() for name in figure["files"]]
    return list(dict.fromkeys(names))


def headlines(sidecar: dict | None) -> list[str]:
    """What a result says in a few words."""
    return (sidecar or {}).get("headlines", [])


def untrue(sidecar: dict | None) -> list[str]:
    """Sentences of a notebook that its run does not show."""
    return [sentence["text"] for sentence in (sidecar or {}).get("sentences", []) if not sentence["holds"]]


def reason(failure: dict) -> str:
    """Why a notebook failed, in one line."""
    return ": ".join(text for text in (failure["error"], failure["message"]) if text)


def _read(folder: Path, name: str, flaw_in) -> tuple[dict | None, str]:
    content = read_json(folder / name)
    if content is None:
        return None, f"{name} is damaged" if (folder / name).exists() else ""
    flaw = flaw_in(content)
    return (None, f"{name} is damaged" + (f" ({flaw})" if flaw != "damaged" else "")) if flaw else (content, "")


def _is_failure(content) -> bool:
    return isinstance(content, dict) and all(isinstance(content.get(key), str) for key in ("error", "message"))


def flaw_of(content, identifier: str) -> str:
    """What keeps `content` from being a notebook's result; empty if nothing does, "damaged" if it is none at all."""
    if not isinstance(content, dict) or not _is_run(content.get("run")):
        return "damaged"
    claims, figures = content.get("claims"), content.get("figures")
    if not isinstance(claims, dict) or not isinstance(figures, dict) or not all(map(_is_figure, figures.values())):
        return "damaged"
    if not isinstance(content.get("headlines", []), list) or not all(map(_is_text, content.get("headlines", []))):
        return "damaged"
    if not isinstance(content.get("sentences", []), list) or not all(map(_is_sentence, content.get("sentences", []))):
        return "damaged"
    if not isinstance(content.get("void"), list) or not isinstance(content.get("provenance"), dict):
        return "damaged"
    if content.get("id") != identifier:
        return f"it is the result of {content.get('id')}"
    files = content.get(seal.FILES)
    # nothing may be put elsewhere in the name of the result, nor any of its files be left unsealed
    if not isinstance(files, dict) or set(files) != {f"{identifier}.ipynb", *figure_files(content)}:
        return "it seals other files than its own"
    try:
        evidence_of(content)
    except InputError as error:
        return str(error)
    return ""


def _is_run(run) -> bool:
    if not isinstance(run, dict) or run.get("finished") is not True:
        return False
    if not all(isinstance(run.get(key), kind) for key, kind in RUN.items()):
        return False
    if not all(_is_number(run.get(key)) for key in ("started", "seconds")):
        return False
    if not isinstance(run.get("changed", {}), dict):
        return False
    # the machine's name becomes a folder
    return re.fullmatch(r"\w[\w.-]*", run["machine"]) is not None


def _is_text(value) -> bool:
    return isinstance(value, str)


def _is_sentence(value) -> bool:
    return isinstance(value, dict) and _is_text(value.get("text")) and isinstance(value.get("holds"), bool)


def _is_number(value) -> bool:
    # no comparison holds for NaN, and whole numbers may be too large for a float
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max


def _is_figure(figure) -> bool:
    files = figure.get("files") if isinstance(figure, dict) else None
    return isinstance(files, list) and all(isinstance(name, str) and _below_figures(name) for name in files)


def _below_figures(name: str) -> bool:
    """No file elsewhere may be replaced or removed in the name of a figure."""
    parts = PurePosixPath(name).parts
    return len(parts) > 1 and parts[0] == "figures" and ".." not in parts
