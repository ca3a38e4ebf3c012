"""What the swap paper claims on speed, and what the parts of an iteration tell of it (table 1, figures 8 to 10)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from repro.lbm.lattice import D3Q19

from .iteration import BUS, COLLIDE_ONLY, COMPARED, OUR_BUS, PALABOS, PAPER_WAY, REST, RUNS, iterations, seconds_of

#: claims on one core, its share of collision and streaming and the least of it, the growth over grids, what types cost
ON_CORE, SHARE, LEAST, TREND, COST = "swap-002", "swap-007", "swap-001", "swap-018", "swap-023"

#: the grid of the paper's table 1 and figure 8, and its largest
PAPER_NODES, LARGEST = 128, 512

#: the grid of each claim on a GPU
ON_GPU = {f"swap-{n:03d}": LARGEST if n in (9, 10, 11) else PAPER_NODES for n in (3, 4, 8, 9, 10, 11, 19)}
JUDGED = (ON_CORE, SHARE, LEAST, *ON_GPU, TREND, COST)

NOT_BUILT = "Palabos, from which the paper starts, is not built here: see tools/peers/build_palabos.sh"


@dataclass(frozen=True)
class Paper:
    """The paper's numbers by the name of the way."""

    #: of an iteration on 128^3 nodes
    seconds: dict[str, float]
    #: of collision and streaming in it, from 0 to 1
    shares: dict[str, float]
    #: over the serial program, by nodes a side; of collision alone only on the largest grid: the speedup over the gain
    speedups: dict[str, dict[int, float]]


def paper(stated) -> Paper:
    """The paper's numbers from its claims, `stated` by id."""
    numbers = (2, 3, 4, 7, 8, 9, 10)
    value = {number: float(stated[f"swap-{number:03d}"].value) for number in numbers}
    alone = {LARGEST: value[9] / (1 + value[10] / 100)}
    return Paper(
        {PALABOS: value[2], PAPER_WAY: value[3]},
        {PALABOS: value[7] / 100, PAPER_WAY: value[8] / 100},
        {PAPER_WAY: {PAPER_NODES: value[4], LARGEST: value[9]}, COLLIDE_ONLY: alone},
    )


def moved_seconds(parts: pd.DataFrame, way: str, nodes: int) -> float:
    """Seconds of collision and streaming of the bulk in an iteration, and of the copies that are made for them."""
    return seconds_of(parts, way, nodes) - seconds_of(parts, way, nodes, REST)


def share(parts: pd.DataFrame, way: str, nodes: int = PAPER_NODES) -> float:
    """Share of `moved_seconds` in an iteration, per cent."""
    return 100 * moved_seconds(parts, way, nodes) / seconds_of(parts, way, nodes)


def readings(parts: pd.DataFrame, nodes: int = PAPER_NODES) -> pd.DataFrame:
    """The share of collision and streaming in Palabos by what counts as such: columns reading, "share (%)"."""
    whole = seconds_of(parts, PALABOS, nodes)
    rows = {"bulk": ("bulk",), "bulk and boundary nodes": ("bulk", "boundary collision", "boundary stream")}
    found = [(name, 100 * seconds_of(parts, PALABOS, nodes, names) / whole) for name, names in rows.items()]
    return pd.DataFrame(found, columns=["reading", "share (%)"])


def times_table(parts: pd.DataFrame, stated: Paper) -> pd.DataFrame:
    """Milliseconds of Palabos alone and with a GPU, there and here, at 128^3: collision and streaming, and the rest.

    Copies count with collision and streaming. A program that was not timed is left out.
    """
    rows = []
    for way, seconds in stated.seconds.items():
        moved, here = moved_seconds(parts, way, PAPER_NODES), seconds_of(parts, way, PAPER_NODES)
        if here:
            there = stated.shares[way] * seconds
            rows += [(way, "collision and streaming", there, moved), (way, "the rest", seconds - there, here - moved)]
    table = pd.DataFrame(rows, columns=["program", "what", "paper (ms)", "here (ms)"])
    table[["paper (ms)", "here (ms)"]] *= 1e3
    return table.assign(**{"here / paper": table["here (ms)"] / table["paper (ms)"]})


def bus_rates(parts: pd.DataFrame, stated: Paper) -> tuple[float, float]:
    """GB/s over the bus: if the paper's collision and streaming were nothing but copies, and of our own copies here."""
    crossing = parts[(parts["way"] == OUR_BUS) & parts["part"].isin(BUS)]
    paper = 2 * D3Q19.q * 8 * PAPER_NODES**3 / (stated.seconds[PAPER_WAY] * stated.shares[PAPER_WAY])
    return paper / 1e9, float(crossing["bytes"].sum() / crossing["seconds"].sum()) / 1e9


def run_speedups(parts: pd.DataFrame, way: str) -> dict[int, np.ndarray]:
    """Speedup of a way over Palabos in each run, by the nodes a side on which both were timed."""
    rows = iterations(parts).set_index(["way", "nodes"])["runs"]
    both = [nodes for other, nodes in rows.index if other == way and (PALABOS, nodes) in rows.index]
    pairs = {nodes: zip(rows[PALABOS, nodes], rows[way, nodes], strict=False) for nodes in both}
    return {nodes: np.array([p / w for p, w in pair]) for nodes, pair in pairs.items()}


def scatter(parts: pd.DataFrame, claims: Callable[[pd.DataFrame], dict]) -> dict[str, float | None]:
    """How far apart the values of claims lie in independent runs; None with fewer runs than tell that.

    `claims` gives {claim: value} of the parts of one run, with that run's own seconds.
    """
    parts = parts[parts["way"].isin(COMPARED)]
    count = min(map(len, parts["runs"]))
    runs = [claims(parts.assign(seconds=[values[run] for values in parts["runs"]])) for run in range(count)]
    return {claim: float(np.ptp([run[claim] for run in runs])) if count >= RUNS else None for claim in runs[0]}


def core_claims(parts: pd.DataFrame) -> dict[str, float]:
    """{claim: value} of Palabos on one core: seconds, and the share of its bulk, which the paper has twice."""
    bulk, _ = readings(parts)["share (%)"]
    return {ON_CORE: seconds_of(parts, PALABOS, PAPER_NODES), SHARE: float(bulk), LEAST: float(bulk)}


def gpu_claims(parts: pd.DataFrame) -> dict[str, float]:
    """{claim: value} of Palabos with its bulk, or the collision of its bulk, on the GPU, on the grids of ON_GPU.

    The copies, over the bus and in and out of Palabos' cells, count with collision and streaming.
    """
    speedup = iterations(parts).set_index(["way", "nodes"])[f"over {PALABOS}"]
    moved = {way: moved_seconds(parts, way, PAPER_NODES) for way in (PALABOS, PAPER_WAY)}
    return {
        "swap-003": seconds_of(parts, PAPER_WAY, PAPER_NODES),
        "swap-004": float(speedup[PAPER_WAY, PAPER_NODES]),
        "swap-008": share(parts, PAPER_WAY),
        "swap-019": moved[PALABOS] / moved[PAPER_WAY],
        "swap-009": float(speedup[PAPER_WAY, LARGEST]),
        "swap-010": float(100 * (speedup[PAPER_WAY, LARGEST] / speedup[COLLIDE_ONLY, LARGEST] - 1)),
        "swap-011": float(speedup[COLLIDE_ONLY, LARGEST]),
    }


def compared(parts: pd.DataFrame) -> bool:
    """Whether the ways that claims compare were timed on both of their grids; one that did not fit is missing."""
    timed = set(zip(parts["way"], parts["nodes"], strict=True))
    return {(way, nodes) for way in COMPARED for nodes in (PAPER_NODES, LARGEST)} <= timed


def types_cost(speeds: pd.DataFrame, precision: str = "double") -> list[float]:
    """Time of a step by types, boundary nodes included, over that of one by plain streaming with two arrays, by run."""
    runs = speeds[speeds["precision"] == precision].set_index("strategy")["runs"]
    return [types / split for types, split in zip(runs["swap types"], runs["split"], strict=True)]


def record_claims(record, parts: pd.DataFrame, speeds: pd.DataFrame, on_gpu: bool) -> None:
    """Give the notebook's `record` what was measured; what a run has not is not measured."""
    timed = set(zip(parts["way"], parts["nodes"], strict=True))
    if (PALABOS, PAPER_NODES) in timed:
        scatters, found = scatter(parts, core_claims), core_claims(parts)
        wide = f"the bulk; with boundary nodes {readings(parts)['share (%)'].iloc[1]:.1f} %"
        notes = {ON_CORE: f"on {PAPER_NODES}^3 nodes", SHARE: wide, LEAST: wide}
        for claim, value in found.items():
            record.measure(claim, value, scatter=scatters[claim], note=notes[claim])
    else:
        why = f"needs Palabos on {PAPER_NODES}^3 nodes" if PALABOS in set(parts["way"]) else NOT_BUILT
        for claim in (ON_CORE, SHARE, LEAST):
            record.not_measured(claim, why)
    if on_gpu and compared(parts):
        _record_gpu_claims(record, parts)
    else:
        for claim in (*ON_GPU, TREND):
            record.not_measured(claim, f"needs Palabos, a GPU and memory for {PAPER_NODES}^3 and {LARGEST}^3 nodes")
    if on_gpu:
        each, single = types_cost(speeds), np.median(types_cost(speeds, "single"))
        apart = float(np.ptp(each)) if len(each) >= RUNS else None
        note = f"double precision, as Palabos has it; {single:.2f} in single"
        record.measure(COST, float(np.median(each)), scatter=apart, note=note)
    else:
        record.not_measured(COST, "needs a GPU")


def _record_gpu_claims(record, parts: pd.DataFrame) -> None:
    scatters, alone = scatter(parts, gpu_claims), run_speedups(parts, COLLIDE_ONLY)
    both = ", ".join(f"{np.median(alone[nodes]):.2f} on {nodes}^3" for nodes in (PAPER_NODES, LARGEST))
    for claim, value in gpu_claims(parts).items():
        note = both if claim == "swap-011" else f"on {ON_GPU[claim]}^3 nodes"
        record.measure(claim, value, scatter=scatters[claim], note=note)
    each = run_speedups(parts, PAPER_WAY)
    speedups = {str(nodes): list(each[nodes]) for nodes in (PAPER_NODES, LARGEST)}
    ranges = ", ".join(f"{nodes}^3: {min(values):.1f} to {max(values):.1f}" for nodes, values in speedups.items())
    if min(map(len, speedups.values())) < RUNS:
        record.not_measured(TREND, f"needs {RUNS} runs of each grid; this run has {ranges}")
    else:
        record.measure(TREND, speedups, note=ranges)
