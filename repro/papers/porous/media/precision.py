"""Permeability in double precision, and in single precision with deviations or plain populations (figure 5.9)."""

from itertools import product

import numpy as np
import pandas as pd

from repro.lbm.exact import FORCE_UNIT, rounded_force
from repro.lbm.media import PoreSpace, sphere_crystal
from repro.lbm.porous.permeability import FlowThrough, flow_through

from .permeability import RATES

#: what is compared, by name: precision, and whether deviations from the weights or plain populations are stored
KINDS = {
    "double": {"precision": "double", "storage": "deviation"},
    "single, deviations": {"precision": "single", "storage": "deviation"},
    "single, plain": {"precision": "single", "storage": "plain"},
}


def precision_runs(space: PoreSpace, device, **options) -> dict[str, FlowThrough]:
    """The flow through an image in each of KINDS; `options` as of `flow_through`, the same for all."""
    return {name: flow_through(space, device, **kind, **options) for name, kind in KINDS.items()}


def predicted_change(force):
    """By how many per cent the force that plain single-precision populations feel differs from the one asked for."""
    return 100 * (rounded_force(force) / np.asarray(force, float) - 1)


def force_with(change: float, near: float) -> float:
    """The force whose `predicted_change` is `change` (%), nearest to `near`."""
    forces = np.arange(1, 1000) * FORCE_UNIT / (1 + change / 100)
    forces = forces[np.isclose(predicted_change(forces), change)]
    return float(forces[np.abs(forces - near).argmin()])


def force_scan(space: PoreSpace, device, forces, double: FlowThrough, **options) -> pd.DataFrame:
    """k of plain populations in single precision at each force: `predicted_change`, and the one against `double`."""
    rows = []
    for force in forces:
        run = flow_through(space, device, **KINDS["single, plain"], force=force, **options)
        rows.append((force, predicted_change(force), -loss(run, double), run.k, run.result.steps, run.reynolds))
    return pd.DataFrame(rows, columns=["force", "predicted (%)", "measured (%)", "k", "steps", "Reynolds number"])


def precision_claims(runs: dict[str, FlowThrough]) -> dict:
    """{claim: value} of figure 5.9: k in both precisions, and of single the steps and what it loses (%)."""
    double, _, plain = runs.values()
    found = {"porous-051": double.k, "porous-049": plain.k, "porous-053": loss(plain, double)}
    return found | {"porous-050": plain.result.steps}


def steps_on_readings(nodes: int, chi: float, double: FlowThrough, device, **options) -> pd.DataFrame:
    """Steps in double precision until k is steady, on what the thesis leaves open; one row a reading.

    `double` has the two rates of reference 30 in a cell of `nodes`. Beside it run the rates of reference 31, and both
    in a cell of two voxels less, as the thesis draws its series for 126.
    """
    runs = {(nodes, RATES["mrt"]): double}
    for voxels, (collision, rates) in product((nodes, nodes - 2), RATES.items()):
        if (voxels, rates) not in runs:
            space = PoreSpace(sphere_crystal(voxels, chi))
            runs[voxels, rates] = flow_through(space, device, collision=collision, **KINDS["double"], **options)
    rows = [(*reading, run.result.steps, run.result.converged) for reading, run in runs.items()]
    return pd.DataFrame(rows, columns=["voxels", "rates", "steps", "converged"])


def steps_claim(readings: pd.DataFrame, stated: float) -> dict:
    """The steps of `steps_on_readings` that are the farthest from those stated, and a note of all."""
    steps = readings["steps"]
    note = ", ".join(f"{row.rates}, {row.voxels} voxels: {row.steps:,}" for row in readings.itertuples())
    farthest = int(steps[(steps - stated).abs().idxmax()])
    return {"measured": farthest, "converged": bool(readings["converged"].all()), "note": note}


def precision_table(runs: dict[str, FlowThrough], exact: float) -> pd.DataFrame:
    """k of each run, how far it is from the series' `exact` and from double precision, steps, Reynolds and Mach."""
    rows = []
    for name, run in runs.items():
        result = run.result
        against = 100 * (run.k / exact - 1), -loss(run, runs["double"])
        rows.append((name, run.k, *against, result.steps, result.converged, run.force, run.reynolds, result.mach))
    names = ["run", "k", "k/series - 1 (%)", "k/k_double - 1 (%)", "steps", "converged", "force"]
    return pd.DataFrame(rows, columns=[*names, "Reynolds number", "Mach number"])


def beside(single: pd.Series, double: pd.Series) -> pd.Series:
    """k/k_double - 1 in % at each step of a run in single precision, from k over the steps of both.

    Where the run in double precision was steady before, its last k stands for it.
    """
    known = double.reindex(single.index.union(double.index)).ffill()
    return 100 * (single / known.reindex(single.index) - 1).drop(0, errors="ignore").dropna()


def paper_change(published: pd.DataFrame) -> pd.Series:
    """`beside` of the paper's points of figure 5.9."""
    curves = {name: rows.set_index("x")["y"] for name, rows in published.groupby("series")}
    return beside(curves["single"], curves["double"])


def changes(runs: dict[str, FlowThrough]) -> dict[str, pd.Series]:
    """`beside` of each run in single precision, by its name in KINDS."""
    double, *singles = (pd.Series(dict(run.result.history)) for run in runs.values())
    return {name: beside(k, double) for name, k in zip(list(KINDS)[1:], singles, strict=True)}


def settled(published: pd.DataFrame) -> dict:
    """Mean and range (%) of what single precision changes k by late in the paper's run; holds if it does not drift."""
    last = paper_change(published)
    last = last[last.index >= last.index.max() / 2]
    mean, moves = last.mean(), last.max() - last.min()
    return {"mean": mean, "moves": moves, "holds": bool(moves < abs(mean) / 10)}


def headline(measured: float, predicted: float, paper: float) -> str:
    """By how much (%) single precision changes k: as measured, by the rounding of the force, and in the paper."""
    ours = f"Single precision changes the permeability by {measured:+.2f} %"
    return f"{ours}; the rounding of the force predicts {predicted:+.2f} %, the paper's figure has {paper:+.2f} %"


def loss(run: FlowThrough, double: FlowThrough) -> float:
    """Per cent by which k of a run is below that in double precision; negative where it is above."""
    return 100 * (1 - run.k / double.k)
