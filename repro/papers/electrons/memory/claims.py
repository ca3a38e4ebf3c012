"""The paper's claims on memory: its set-up beside ours, and the three powers of N m / n^2."""

import pandas as pd

from repro.pic.simulation import Simulation

from .measures import POWERS

#: threads a block, blocks, particles a launch, domains: facts that are not judged
SETUP = ("electrons-003", "electrons-004", "electrons-005", "electrons-007")

#: the power of the processes, of the cells and of the multiprocessors
JUDGED = dict(zip(POWERS, ("electrons-006", "electrons-013", "electrons-014"), strict=True))


def setup(stated, simulation: Simulation) -> pd.DataFrame:
    """The paper's set-up beside that of a process, one row a claim of `stated` (by id)."""
    host_loop = simulation.parts["particles"]
    counts, kept = host_loop.counts, (simulation.particles_on_device, host_loop.incoming, host_loop.outgoing)
    ours = dict(zip(SETUP, (counts.block, host_loop.blocks, counts.threads, len(kept)), strict=True))
    rows = [(c.id, c.quantity, c.case, c.value, ours[c.id]) for c in stated.values()]
    return pd.DataFrame(rows, columns=["id", "quantity", "case", "paper", "here"])


def record_claims(record, powers: dict[str, float]) -> None:
    """Give the notebook's `record` the powers of `measures.powers`."""
    record.measure_all({JUDGED[name]: power for name, power in powers.items()}, note="least squares of logarithms")
