"""The paper's claims on ghosts: its set-up beside ours, and what this run says of figures 6 and 7."""

import pandas as pd

from repro.sph.cases import DamBreak
from repro.sph.ghosts import wall_sites

from .measures import NAMES, PLACES
from .runs import PAIR

#: facts of figure 6, which are not judged: fluid particles, ghosts, time shown
SETUP = ("sph-024", "sph-025", "sph-026")

SMOOTH, SAME, MENDED = "sph-037", "sph-038", "sph-050"
JUDGED = (SMOOTH, SAME, MENDED)

#: what stands beside the numbers of an order
_NOTE = "root mean squares {unit}, one value a seed"


def setup(stated, case: DamBreak, seconds: float) -> pd.DataFrame:
    """The paper's set-up beside ours, one row a claim of `stated` (by id, with quantity and bounds())."""
    ours = dict(zip(SETUP, (case.system().count, len(wall_sites(case.system()).kind), seconds), strict=True))
    rows = [(c.id, c.where, c.quantity, c.unit, c.bounds()[0], ours[c.id]) for c in stated.values()]
    return pd.DataFrame(rows, columns=["id", "where", "quantity", "unit", "paper", "here"])


def missing(table: pd.DataFrame) -> str:
    """Why a run with such a `setup` does not test what the paper says of figures 6 and 7; empty if it does."""
    rows = table.set_index("id")
    # how many ghosts there are follows from the walls
    off = [rows.loc[name] for name in (SETUP[0], SETUP[2]) if rows.loc[name, "here"] != rows.loc[name, "paper"]]
    parts = (f"{row['here']:g} {row['quantity']} where the paper has {row['paper']:g}" for row in off)
    return f"this run has {', '.join(parts)}" if off else ""


def record_claims(record, beside: pd.DataFrame, table: pd.DataFrame, differences: pd.DataFrame, gpu: bool) -> None:
    """Give the notebook's `record` what this run says of the claims; `gpu` says whether a GPU was compared."""
    reason = missing(beside)
    if reason:
        record.not_measured(SMOOTH, reason)
        record.not_measured(MENDED, reason)
    else:
        # by place: roughness of the surface and unevenness along walls, and what equation 3 lacks
        smooth = _seeds(table, {"surface": "surface", "walls": "walls"}, NAMES)
        record.measure(SMOOTH, smooth, note=_NOTE.format(unit="in spacings"))
        lacks = _seeds(table, {place: f"counted {place}" for place in PLACES[:2]}, PAIR)
        record.measure(MENDED, lacks, note=_NOTE.format(unit="over rho0"))
    paper, time = float(beside.set_index("id").loc[SETUP[2], "paper"]), float(differences["time"].min())
    # to a millisecond
    early = "" if abs(time - paper) < 1e-3 else f"devices were compared after {time:.3g} s and not after {paper:g} s"
    reason = reason or ("" if gpu else "no GPU: one core and all cores were compared") or early
    if reason:
        record.not_measured(SAME, reason)
    else:
        same = "the same bits" if differences["same bits"].all() else "not the same bits"
        record.measure(SAME, float(differences["distance"].max()), note=f"largest of both boundaries; {same}")


def _seeds(table: pd.DataFrame, columns: dict[str, str], boundaries) -> dict:
    """Lists of the seeds' values by place and boundary, of the column of each place."""
    groups = table[table["boundary"].isin([NAMES[name] for name in boundaries])].groupby("boundary", sort=False)
    return {place: groups[column].agg(list).to_dict() for place, column in columns.items()}
