"""Memory that the strategies for porous media keep, and the porosity below which a list saves some (section 5.3)."""

from itertools import product

import numpy as np
import pandas as pd

from repro.lbm.lattice import D3Q19
from repro.lbm.media import PoreSpace
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.porous.strategies import STRATEGIES
from repro.lbm.strategies.scheme import Cost


def record_memory(record, media: dict[str, PoreSpace], device) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give the notebook's `record` the `memory_table` of the first medium, the `storage_readings` and their claim."""
    memory = record.table("memory", memory_table(next(iter(media.values())), device))
    readings = record.table("readings of section 5.3", storage_readings())
    record.measure("porous-041", **memory_evidence(memory, readings))
    return memory, readings


def memory_table(space: PoreSpace, device) -> pd.DataFrame:
    """Bytes a node of the box that each strategy keeps, by design and allocated; sparse ones save below a porosity."""
    rows, dense, problem = [], STRATEGIES["flag word"].COST, PorousProblem(space, 0.8, (0.0, 0.0, 0.0))
    for (precision, itemsize), name in product((("single", 4), ("double", 8)), STRATEGIES):
        flow = PorousFlow(problem, device, strategy=name, precision=precision)
        limit = np.nan if flow.cost.dense else flow.cost.break_even(dense, itemsize)
        allocated = flow.kept_bytes / space.solid.size
        rows.append((name, precision, flow.cost.bytes_per_node(itemsize, space.porosity), allocated, limit))
    return pd.DataFrame(rows, columns=["strategy", "precision", "bytes", "allocated", "saves below porosity"])


def storage_readings() -> pd.DataFrame:
    """Porosity below which a list keeps less than all nodes in double precision, by readings of section 5.3."""
    rows = []
    for arrays, bits, flag_word in product((2, 1), (32, 64), (True, False)):
        full = Cost(arrays=arrays, mark=STRATEGIES["flag word"].COST.mark if flag_word else 0)
        sparse = Cost(arrays=arrays, map=bits // 8 * (D3Q19.q - 1), dense=False)
        rows.append((arrays, bits, flag_word, sparse.break_even(full, 8)))
    return pd.DataFrame(rows, columns=["arrays", "bits of a place", "flag word", "saves below porosity"])


def memory_evidence(memory: pd.DataFrame, readings: pd.DataFrame) -> dict:
    """Section 5.3's limit in double precision from `memory_table`, and the range of `storage_readings` as a note."""
    limit = memory.set_index(["strategy", "precision"])["saves below porosity"]["sparse", "double"]
    least, most = readings["saves below porosity"].agg(["min", "max"])
    note = f"two arrays, places of 32 bits, flag word; other readings {least:.2f} to {most:.2f}"
    return {"measured": float(limit), "note": note}


def reading_numbers(readings: pd.DataFrame, stated: float) -> dict:
    """Least and largest threshold of `storage_readings`, and how many lie within half a digit of the paper's."""
    limits = readings["saves below porosity"]
    near = int((abs(limits - stated) <= 0.05).sum())
    return {"least": limits.min(), "most": limits.max(), "near": near, "holds": 0 < near < len(limits)}
