"""What a notebook hands over: measured values, timings, tables and figures, as one JSON file written last."""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from repro.errors import InputError
from repro.files import write_json

from . import provenance
from .claims import Claim, find
from .nearest import did_you_mean
from .paths import Project, file_stem
from .verdicts import Judgement, Verdict, judge

INLINE_LIMIT = 20_000
"""Numbers of a figure kept in the JSON file itself; more go to an .npz beside the figure."""
DIGITS = 7


class Record:
    """The result of one notebook; see `open_record`."""

    def __init__(self, identifier: str, parameters: Mapping, claims: Mapping[str, Claim], folder: Path):
        self.id = identifier
        self.folder = folder
        self._claims = dict(claims)
        self._started = time.time()
        self._content = {
            "id": identifier,
            "parameters": plain(dict(parameters)),
            "claims": {},
            "timings": [],
            "tables": {},
            "figures": {},
        }

    def measure(self, claim: str, measured, *, trend: str | None = None, note: str = "") -> Judgement:
        """Judge the value measured for a claim; `trend` says which trend of the paper's was found."""
        return self._judge(claim, measured, judge(self._claim(claim), measured, trend), note)

    def measure_all(self, values: Mapping[str, object], *, note: str = "") -> None:
        """Judge the values measured for several claims, given as {claim id: value}."""
        for claim, measured in values.items():
            self.measure(claim, measured, note=note)

    def not_comparable(self, claim: str, measured, reason: str, *, note: str = "") -> Judgement:
        """Record a value that cannot be compared with the claim, and why."""
        _require(reason, f"claim {claim}: say why it is not comparable")
        return self._judge(claim, measured, judge(self._claim(claim), measured, not_comparable=reason), note)

    def not_measured(self, claim: str, reason: str) -> Judgement:
        """Record that this run does not test the claim, and why."""
        _require(reason, f"claim {claim}: say why it is not measured")
        self._claim(claim)
        return self._judge(claim, None, Judgement(Verdict.NOT_MEASURED, reason), "")

    def timing(
        self,
        case: str,
        *,
        seconds: float,
        device: str,
        precision: str,
        size,
        includes: str,
        check: str,
        mlups: float | None = None,
        spread: float | None = None,
        **more,
    ) -> dict:
        """Record a speed.

        `seconds` is the median duration and `spread` its relative spread over the repeats; `includes` says
        what the timer includes, `check` which physics check the timed run has passed (refused without one).
        `more` keeps further facts (strategy, block size, share of the copy bandwidth ...).
        """
        _require(check, f"timing '{case}': name the physics check that the timed run has passed")
        _require(includes, f"timing '{case}': say what the timer includes")
        row = {"case": case, "mlups": mlups, "seconds": seconds, "spread": spread, "device": device}
        row |= {"precision": precision, "size": size, "includes": includes, "check": check, **more}
        self._content["timings"].append(plain(row))
        return row

    def timings(self) -> pd.DataFrame:
        """All recorded speeds."""
        return pd.DataFrame(self._content["timings"])

    def table(self, name: str, frame: pd.DataFrame) -> pd.DataFrame:
        """Keep a table; returns it for display."""
        columns = [str(c) for c in frame.columns]
        rows = plain([list(row) for row in frame.itertuples(index=False)])
        self._content["tables"][name] = {"columns": columns, "rows": rows}
        return frame

    def figure(self, name: str, figure, arrays: Mapping[str, object]) -> None:
        """Save a matplotlib figure as PNG and SVG with the arrays it shows."""
        stem = f"{file_stem(self.id)}-{slug(name)}"
        place = self.folder / "figures"
        place.mkdir(parents=True, exist_ok=True)
        figure.savefig(place / f"{stem}.png", dpi=200)
        # everything has its place now: the other drawings need not look for it again
        figure.set_layout_engine("none")
        figure.savefig(place / f"{stem}.svg", metadata={"Date": None})
        files = [f"figures/{stem}.png", f"figures/{stem}.svg"]
        arrays = {key: np.asarray(value) for key, value in arrays.items()}
        entry: dict = {"files": files}
        if sum(array.size for array in arrays.values()) > INLINE_LIMIT:
            np.savez_compressed(place / f"{stem}.npz", **arrays)
            files.append(f"figures/{stem}.npz")
        else:
            entry["arrays"] = {key: plain(array) for key, array in arrays.items()}
        self._content["figures"][name] = entry

    def verdicts(self) -> pd.DataFrame:
        """The claims of this notebook, judged."""
        rows = [self._row(claim) for claim in self._claims.values()]
        return pd.DataFrame(rows, columns=list(rows[0]) if rows else None)

    def close(self) -> Path:
        """Write the JSON file, whole or not at all; claims without a value become "not measured"."""
        for identifier in self._claims:
            if identifier not in self._content["claims"]:
                self.not_measured(identifier, "this run has no value for it")
        seconds = round(time.time() - self._started, 3)
        machine = provenance.collect(Project.default().root)
        path = self.folder / f"{file_stem(self.id)}.json"
        write_json(path, {**self._content, "seconds": seconds, "provenance": machine})
        return path

    def _claim(self, identifier: str) -> Claim:
        if identifier not in self._claims:
            nearest = did_you_mean(identifier, self._claims)
            raise InputError(f"claim '{identifier}' was not declared when the record was opened: {nearest}")
        return self._claims[identifier]

    def _judge(self, identifier: str, measured, judgement: Judgement, note: str) -> Judgement:
        entry = {"measured": plain(measured), **asdict(judgement), "note": note}
        self._content["claims"][identifier] = entry
        return judgement

    def _row(self, claim: Claim) -> dict:
        entry = self._content["claims"].get(claim.id, {})
        return {
            "id": claim.id,
            "quantity": claim.quantity,
            "case": claim.case,
            "paper": claim.value,
            "measured": entry.get("measured"),
            "unit": claim.unit,
            "verdict": str(entry.get("verdict", Verdict.NOT_MEASURED)),
            "reason": entry.get("reason", "no value yet"),
        }


def open_record(identifier: str, *, parameters: Mapping, claims: Iterable[str]) -> Record:
    """Open the record of notebook `identifier`, which tests the claims with the given ids.

    The files go to the folder that the runner names in REPRO_OUTPUT; in JupyterLab to build/interactive.
    """
    project = Project.default()
    folder = Path(os.environ.get("REPRO_OUTPUT") or project.build / "interactive")
    folder.mkdir(parents=True, exist_ok=True)
    found = find(claims, project)
    if setup := [c.id for c in found.values() if c.kind == "setup"]:
        raise InputError(f"{', '.join(setup)}: a statement of the set-up is not judged")
    return Record(identifier, parameters, found, folder)


def slug(text: str) -> str:
    """`text` as a part of a file name."""
    words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
    return "-".join(words)


def plain(value):
    """`value` as JSON knows it: NumPy becomes Python, floats keep seven digits, NaN and inf become text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else str(value)
    return str(value)


def _require(text: str, message: str) -> None:
    if not text or not text.strip():
        raise InputError(message)
