"""The paper's claims on speed: more than 30 times all cores, and the more the fewer particles there are."""

import pandas as pd

from repro.parallel import select

from .programs import LOOP, PAPER

#: the speedup with 30 million particles, and that it grows when there are fewer
SPEEDUP, TREND = JUDGED = ("electrons-001", "electrons-012")

#: particles, cores and GPUs of the paper's test, which are not judged
SETUP = ("electrons-002", "electrons-008", "electrons-009")

#: particles of the speedup, and the names that the trend's claim has for particles
PAPER_PARTICLES = 30_000_000
TREND_NAMES = {300_000: "3e5", 3_000_000: "3e6", PAPER_PARTICLES: "3e7"}


def setup(stated, particles, gpus: int) -> pd.DataFrame:
    """The paper's set-up beside ours, a row a claim of `stated` (by id)."""
    ours = dict(zip(SETUP, (max(particles), select("threads").workers, gpus), strict=True))
    rows = [(c.id, c.quantity, c.case, c.value, ours[c.id]) for c in stated.values()]
    return pd.DataFrame(rows, columns=["id", "quantity", "case", "paper", "here"])


def values(speedups: pd.DataFrame, speeds: pd.DataFrame) -> dict[str, dict]:
    """Keywords of `Record.measure` for the claims that a run can test, by id, from `tables.speedups` and `speeds`.

    The paper's program on a GPU over the paper's kind of loop on all cores.
    """
    of_paper = speedups[(speedups["program"] == PAPER) & (speedups["over"] == LOOP)].set_index("particles")
    measured = {}
    if PAPER_PARTICLES in of_paper.index:
        row = of_paper.loc[PAPER_PARTICLES]
        scatter = (max(row["runs"]) - min(row["runs"])) / 2
        measured[SPEEDUP] = {"measured": row["speedup"], "scatter": scatter, "baseline": _baseline(speeds)}
    if set(TREND_NAMES) <= set(of_paper.index):
        measured[TREND] = {"measured": {name: of_paper.loc[size, "runs"] for size, name in TREND_NAMES.items()}}
    return measured


def _baseline(speeds: pd.DataFrame) -> str:
    base = speeds[(speeds["program"] == LOOP) & (speeds["size_of"] == PAPER_PARTICLES)].iloc[0]
    return (
        f"particle by particle on all cores, {base['hardware']}: {base['ns']:.3g} ns a particle and step with "
        f"{PAPER_PARTICLES:,} particles; one GPU here, four and 32 cores in the paper"
    )


def record_claims(record, measured: dict[str, dict]) -> None:
    """Give the notebook's `record` the values; what a run has not is not measured."""
    for claim in JUDGED:
        if claim in measured:
            record.measure(claim, **measured[claim])
        else:
            record.not_measured(claim, "this run has no GPU, or not the paper's numbers of particles")
