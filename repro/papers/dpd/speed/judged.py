"""The claims that the speed notebook judges: the paper's numbers, and what is measured for each, from its tables."""

import pandas as pd

from repro.dpd.noise import PAPER_ROUNDS
from repro.papers.speed import of_runs, orders, quotients

from . import host
from .tables import JUDGED, MAPPINGS, SERIAL_PROGRAM, TABLE_4, particle_counts

#: columns of the paper's table 4; the particles are set-up and not judged
_COLUMNS = ("particles", "one core", "thread per cell", "speedup, cell", "thread per particle", "speedup, particle")


def claim(row: int, column: str) -> str:
    """The id of a claim of table 4; rows count from 1. They are numbered row by row, from the first particles on."""
    return f"dpd-{34 + len(_COLUMNS) * (row - 1) + _COLUMNS.index(column):03d}"


#: claims about the speedup of the channel, the order of both mappings and of the speedups over the size, where the
#: better mapping gains most, and the cost of TEA
_OTHERS = ("dpd-033", "dpd-059", "dpd-067", "dpd-068", "dpd-069")
CHANNEL_SPEEDUP, FASTER_MAPPING, SPEEDUP_GROWS, GAIN_FALLS, TEA_COSTS = _OTHERS

CLAIMS = [claim(row + 1, column) for row in range(len(TABLE_4)) for column in _COLUMNS[1:]]
CLAIMS = sorted([*CLAIMS, *_OTHERS, *host.CLAIMS.values()])


def published(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The paper's table 4 from the claims of `Record.verdicts`, and the speedups that its own rates give."""
    values, counts = verdicts.set_index("id")["paper"], particle_counts()
    rows = [(n, *(float(values[claim(row, name)]) for name in _COLUMNS[1:])) for row, n in enumerate(counts, 1)]
    table = pd.DataFrame(rows, columns=_COLUMNS)
    for mapping in MAPPINGS:
        table[f"from rates, {mapping}"] = table[f"thread per {mapping}"] / table["one core"]
    return table


def baseline(row) -> str:
    """What the speedup of a row of `with_speedups` is over: the program, its speed, and on how many particles."""
    count, rate = row["baseline particles"], row["updates"] / row[f"over {SERIAL_PROGRAM}"]
    where = "" if count == row["particles"] else f" on {count:,} particles"
    return f"{SERIAL_PROGRAM}: {rate / 1e6:.2g} M particles/s{where}"


def claim_values(table: pd.DataFrame, channel: pd.DataFrame, arranged, hosts=None, noise=None, full_size=False) -> dict:
    """Keywords of `Record.measure` for the claims that a run can test, by id.

    From `paper_table`, `channel_table` and `order_table`, and on a GPU from `host_table` and `noise_table`;
    `full_size`: whether the channel has the paper's size. GPU's speeds count only on a GPU, and orders need all four
    sizes.
    """
    values = _values_of_table_4(table)
    if hosts is not None:
        values |= host.claim_values(hosts) | {TEA_COSTS: cost_of_tea(noise)}
    if "cuda" in set(table["device"]) and set(particle_counts()) == set(table["particles"]):
        values[SPEEDUP_GROWS] = _growth(arranged)
        named = table.assign(mapping=table["way"].str.removeprefix("thread per "))
        rates = orders(named[named["mapping"].isin(MAPPINGS)], "particles", "mapping", "updates")
        values[FASTER_MAPPING] = {"measured": rates}
        gains = {case.removeprefix("particles "): quotients(r["particle"], r["cell"]) for case, r in rates.items()}
        values[GAIN_FALLS] = {"measured": gains}
    if full_size and "cuda" in set(channel["device"]):
        values[CHANNEL_SPEEDUP] = _speedup(channel[channel["way"] == JUDGED].iloc[0])
    return values


def _values_of_table_4(table: pd.DataFrame) -> dict[str, dict]:
    counts, values = particle_counts(), {}
    for run in table.to_dict("records"):
        row, mapping = counts.index(run["particles"]) + 1, run["way"].removeprefix("thread per ")
        if run["way"] == SERIAL_PROGRAM:
            values[claim(row, "one core")] = {"measured": run["updates"]}
        elif run["device"] == "cuda" and mapping in MAPPINGS:
            values[claim(row, run["way"])] = {"measured": run["updates"]}
            values[claim(row, f"speedup, {mapping}")] = _speedup(run)
    return values


def _growth(arranged: pd.DataFrame) -> dict:
    """The speedups over the number of particles, run by run, in either order of the particles on GPU and core alike."""
    runs, found = arranged.set_index(["order", "particles", "way"])["runs"], {}
    for (order, count), core in runs.xs(SERIAL_PROGRAM, level="way").items():
        speedups = quotients(core, runs[order, count, JUDGED])
        found.setdefault(f"particles {order}", {})[str(count)] = speedups
    spread = arranged.loc[arranged["way"] == SERIAL_PROGRAM, "spread"].max()
    note = f"run by run over the serial program, which itself spreads by up to {100 * spread:.0f} %"
    return {"measured": found, "note": note}


def _speedup(row) -> dict:
    return {"measured": row[f"over {SERIAL_PROGRAM}"], "baseline": baseline(row)}


def cost_of_tea(noise: pd.DataFrame) -> dict:
    """How many times as long a step takes with the paper's noise as with the linear generators, run by run."""
    runs = noise.set_index("rounds")["runs"]
    return of_runs(quotients(runs[PAPER_ROUNDS], runs[0]))
