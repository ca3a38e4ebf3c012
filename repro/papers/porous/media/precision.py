"""Permeability in double precision, and in single precision with deviations or plain populations (figure 5.9)."""

import numpy as np
import pandas as pd

from repro.lbm.media import PoreSpace
from repro.lbm.porous.permeability import FlowThrough, flow_through

from .permeability import THESIS_WALLS

#: what is compared, by name: precision, and whether deviations from the weights or plain populations are stored
KINDS = {
    "double": ("double", "deviation"),
    "single, deviations": ("single", "deviation"),
    "single, plain": ("single", "plain"),
}


def precision_runs(space: PoreSpace, device, walls, **options) -> dict[str, FlowThrough]:
    """The flow through an image in each of KINDS, with the thesis' walls and others; "double, half-way" is a name."""
    return {
        f"{name}, {wall}": flow_through(space, device, precision=precision, storage=storage, walls=wall, **options)
        for wall in dict.fromkeys((THESIS_WALLS, *walls))
        for name, (precision, storage) in KINDS.items()
    }


def of_walls(runs: dict[str, FlowThrough], walls: str = THESIS_WALLS) -> list[FlowThrough]:
    """The runs with the given walls: double, single with deviations, single with plain populations."""
    return [runs[f"{name}, {walls}"] for name in KINDS]


def precision_claims(double: FlowThrough, plain: FlowThrough) -> dict:
    """{claim: value} of figure 5.9: k and steps in double and in single precision, and what the latter loses (%)."""
    return {
        "porous-051": double.k,
        "porous-049": plain.k,
        "porous-052": double.result.steps,
        "porous-050": plain.result.steps,
        "porous-053": loss(plain, double),
    }


def precision_table(runs: dict[str, FlowThrough], exact: float) -> pd.DataFrame:
    """k of each run, how far it is from the series' `exact` and from double precision, steps, Reynolds and Mach."""
    rows = []
    for name, run in runs.items():
        result = run.result
        double = of_walls(runs, name.rpartition(", ")[2])[0]
        against = 100 * (run.k / exact - 1), -loss(run, double)
        rows.append((name, run.k, *against, result.steps, result.converged, run.reynolds, result.mach))
    names = ["run", "k", "k/series - 1 (%)", "k/k_double - 1 (%)", "steps", "converged"]
    names += ["Reynolds number", "Mach number"]
    return pd.DataFrame(rows, columns=names)


def beside(single: pd.Series, double: pd.Series) -> pd.Series:
    """k/k_double - 1 at each step of a run in single precision, from k over the steps of both.

    Where the run in double precision was steady before, its last k stands for it.
    """
    known = double.reindex(single.index.union(double.index)).ffill()
    return (single / known.reindex(single.index) - 1).drop(0, errors="ignore").dropna()


def paper_difference(published: pd.DataFrame) -> pd.Series:
    """`beside` of the paper's points of figure 5.9."""
    curves = {name: rows.set_index("x")["y"] for name, rows in published.groupby("series")}
    return beside(curves["single"], curves["double"])


def differences(runs: dict[str, FlowThrough], walls: str = THESIS_WALLS) -> dict[str, pd.Series]:
    """`beside` of each run in single precision with the given walls, by its name in KINDS."""
    double, *singles = (pd.Series(dict(run.result.history)) for run in of_walls(runs, walls))
    return {name: beside(k, double) for name, k in zip(list(KINDS)[1:], singles, strict=True)}


def first_look(plain: FlowThrough, double: FlowThrough, published: pd.DataFrame, scale: float) -> dict:
    """What single precision changes at the first step at which both k are known, in %: here and in the paper.

    `published` are the points of figure 5.9, at steps that are `scale` times ours. Holds if ours changes less.
    """
    theirs, found = paper_difference(published), beside(*(pd.Series(dict(r.result.history)) for r in (plain, double)))
    step = max(theirs.index[0], scale * found.index[0])
    paper = 100 * np.interp(step, theirs.index, theirs)
    ours = 100 * np.interp(step, scale * found.index, found)
    return {"step": step, "ours": ours, "paper": paper, "holds": abs(ours) < abs(paper)}


def last_look(plain: FlowThrough, shifted: FlowThrough, double: FlowThrough, published: pd.DataFrame) -> dict:
    """What the paper's single precision changes at the end, in %, and its size over the larger of ours, above one."""
    paper = 100 * paper_difference(published).iloc[-1]
    times = abs(paper) / max(abs(loss(run, double)) for run in (shifted, plain))
    return {"paper": paper, "times": times, "holds": times > 1}


def loss_note(shifted: FlowThrough, double: FlowThrough) -> str:
    """The set-up of the claims on precision, and what the better way of storing populations gives beside."""
    return (
        f"{THESIS_WALLS} walls; in single precision plain populations; with deviations k = {shifted.k:.2f}, "
        f"k/k_double - 1 = {-loss(shifted, double):+.2g} %, {shifted.result.steps} steps"
    )


def loss(run: FlowThrough, double: FlowThrough) -> float:
    """Per cent by which k of a run is below that in double precision; negative where it is above."""
    return 100 * (1 - run.k / double.k)
