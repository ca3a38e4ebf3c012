"""Permeability in double precision, and in single precision with deviations or plain populations (figure 5.9)."""

import pandas as pd

from repro.lbm.media import PoreSpace
from repro.lbm.porous.permeability import FlowThrough, flow_through

from .permeability import PAPER_NODES, THESIS_WALLS

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
    """k of each run, its deviation from the series' `exact`, steps, Reynolds and Mach number."""
    rows = []
    for name, run in runs.items():
        result = run.result
        against = 100 * (run.k / exact - 1)
        rows.append((name, run.k, against, result.steps, result.converged, run.reynolds, result.mach))
    names = ["run", "k", "against the series (%)", "steps", "converged", "Reynolds number", "Mach number"]
    return pd.DataFrame(rows, columns=names)


def histories_in_paper_cell(runs: dict[str, FlowThrough], nodes: int) -> dict[str, list]:
    """(steps, k) of each run as it became steady, k scaled from a cell of `nodes` voxels to one of 128."""
    scale = (PAPER_NODES / nodes) ** 2
    return {name: [(steps, k * scale) for steps, k in run.result.history] for name, run in runs.items()}


def loss(run: FlowThrough, double: FlowThrough) -> float:
    """Per cent by which k of a run differs from that in double precision."""
    return 100 * abs(run.k / double.k - 1)
