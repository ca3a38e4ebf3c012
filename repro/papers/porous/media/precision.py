"""Permeability in double precision, and in single precision with deviations or plain populations (figure 5.9)."""

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


def differences(runs: dict[str, FlowThrough], walls: str = THESIS_WALLS) -> dict[str, pd.Series]:
    """`beside` of each run in single precision with the given walls, by its name in KINDS."""
    double, *singles = (pd.Series(dict(run.result.history)) for run in of_walls(runs, walls))
    return {name: beside(k, double) for name, k in zip(list(KINDS)[1:], singles, strict=True)}


def loss(run: FlowThrough, double: FlowThrough) -> float:
    """Per cent by which k of a run is below that in double precision; negative where it is above."""
    return 100 * (1 - run.k / double.k)
