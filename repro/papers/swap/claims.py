"""What the swap paper claims on speed, and what of it an iteration that was taken apart tells (figures 8 to 10)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from repro.lbm.lattice import D3Q19

from .iteration import COLLIDE_ONLY, COMPARED, PAPER_WAY, SERIAL, iterations, seconds_of

#: claims on one core, on its share of collision and streaming, on the paper's way, and on its speedup over the grids
ON_CORE, SHARE = "swap-002", "swap-007"
TREND = "swap-018"

#: the grid of the paper's table 1 and figure 8, and its largest
PAPER_NODES, LARGEST = 128, 512

#: the grid of each claim on a GPU
ON_GPU = {f"swap-{n:03d}": LARGEST if n in (9, 10, 11) else PAPER_NODES for n in (3, 4, 8, 9, 10, 11, 19)}
JUDGED = (ON_CORE, SHARE, *ON_GPU, TREND)

#: fewest runs that tell how far runs lie apart
RUNS = 3

KERNELS, BUS = ("collide", "stream"), ("to the GPU", "to the host")


@dataclass(frozen=True)
class Paper:
    """The paper's numbers: seconds of an iteration on 128^3 nodes, shares from 0 to 1, speedups by nodes a side."""

    serial: float
    hybrid: float
    #: of collision and streaming, of all seconds
    serial_share: float
    hybrid_share: float
    speedups: dict[int, float]
    #: of collision alone on the GPU, on the largest grid: the speedup there over the gain
    collide_only: dict[int, float]

    @property
    def serial_rest(self) -> float:
        """Seconds of what is neither collision nor streaming, in the serial program."""
        return self.serial * (1 - self.serial_share)

    @property
    def hybrid_rest(self) -> float:
        """The same in the hybrid program."""
        return self.hybrid * (1 - self.hybrid_share)

    @property
    def mlups(self) -> dict[str, float]:
        """Million node updates a second of both programs on 128^3 nodes, by the name of the way."""
        return {way: PAPER_NODES**3 / seconds / 1e6 for way, seconds in self.seconds.items()}

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of an iteration on 128^3 nodes, by the name of the way."""
        return {SERIAL: self.serial, PAPER_WAY: self.hybrid}


def paper(stated) -> Paper:
    """The paper's numbers from its claims, `stated` by id."""
    value = {name: claim.bounds()[0] for name, claim in stated.items() if claim.rule != "order"}
    return Paper(
        value["swap-002"],
        value["swap-003"],
        value["swap-007"] / 100,
        value["swap-008"] / 100,
        {PAPER_NODES: value["swap-004"], LARGEST: value["swap-009"]},
        {LARGEST: value["swap-009"] / (1 + value["swap-010"] / 100)},
    )


def over_both(table: pd.DataFrame, stated: Paper, nodes: int) -> pd.DataFrame:
    """Speeds on one grid over our serial sweep and over the paper's serial program; `table` is from `iterations`.

    Columns way, ms, mlups, "over our serial sweep", "over the paper's serial program". The paper's is known on 128^3
    nodes only; on another grid its rate there is what ours is over. The last rows are the paper's own.
    """
    rows = table.loc[table["nodes"] == nodes, ["way", "seconds", "mlups", "speedup"]]
    ours = float(rows.loc[rows["way"] == SERIAL, "mlups"].iloc[0])
    of_paper = [(f"paper: {way}", s, stated.mlups[way], stated.mlups[way] / ours) for way, s in stated.seconds.items()]
    rows = pd.concat([rows, pd.DataFrame(of_paper, columns=rows.columns)], ignore_index=True)
    rows["over the paper's serial program"] = rows["mlups"] / stated.mlups[SERIAL]
    rows.insert(1, "ms", 1e3 * rows.pop("seconds"))
    return rows.rename(columns={"speedup": "over our serial sweep"})


def with_the_rest(parts: pd.DataFrame, stated: Paper, nodes: int) -> dict[str, float]:
    """What the speedups would be if our programs had the paper's rest on the host: Amdahl's law.

    The paper's serial program spends 29 % on what is neither collision nor streaming, and the GPU has no part in it.
    Here the boundary nodes are all that there is, so they are taken off and that share, relative to our collision and
    streaming, is put in their place. Keys: "hybrid" and "collision alone" (speedups), "share" (of collision and
    streaming with the bus, per cent).
    """
    moved = seconds_of(parts, SERIAL, nodes, KERNELS)
    rest = moved * (1 / stated.serial_share - 1)
    without = {
        way: seconds_of(parts, way, nodes) - seconds_of(parts, way, nodes, ("boundary",))
        for way in (PAPER_WAY, COLLIDE_ONLY)
    }
    return {
        "hybrid": (moved + rest) / (without[PAPER_WAY] + rest),
        "collision alone": (moved + rest) / (without[COLLIDE_ONLY] + rest),
        "share": 100 * without[PAPER_WAY] / (without[PAPER_WAY] + rest),
    }


def rest_table(parts: pd.DataFrame, stated: Paper) -> pd.DataFrame:
    """The claims that hang on the rest: the paper's numbers, ours, and ours with the paper's rest."""
    measured = gpu_claims(parts)
    small, large = (with_the_rest(parts, stated, nodes) for nodes in (PAPER_NODES, LARGEST))
    gain = stated.speedups[LARGEST] / stated.collide_only[LARGEST]
    rows = [
        ("swap-004", "x", stated.speedups[PAPER_NODES], small["hybrid"]),
        ("swap-008", "%", 100 * stated.hybrid_share, small["share"]),
        ("swap-009", "x", stated.speedups[LARGEST], large["hybrid"]),
        ("swap-010", "%", 100 * (gain - 1), 100 * (large["hybrid"] / large["collision alone"] - 1)),
    ]
    table = pd.DataFrame(rows, columns=["id", "unit", "paper", "here, with the paper's rest"])
    table.insert(3, "here", table["id"].map(measured))
    return table


def deviations(parts: pd.DataFrame, stated: Paper) -> dict[str, pd.DataFrame]:
    """The tables of what deviates, by name."""
    return {
        "the rest": rest_table(parts, stated),
        "times": times_table(parts, stated),
        "collision alone": collision_table(parts),
    }


def off_from_the_paper(rest: pd.DataFrame) -> tuple[float, float]:
    """Per cent by which the speedups of a `rest_table` differ from the paper's at most: as they are, with the rest."""
    speedups = rest[rest["unit"] == "x"]
    off = [(speedups[name] / speedups["paper"] - 1).abs() for name in ("here", "here, with the paper's rest")]
    return float(100 * off[0].max()), float(100 * off[1].max())


def times_table(parts: pd.DataFrame, stated: Paper) -> pd.DataFrame:
    """Milliseconds of the paper's programs and of ours on 128^3 nodes: collision and streaming, and the rest.

    Columns "what", "paper (ms)", "here (ms)", "here / paper". The copies over the bus count with collision and
    streaming of the hybrid, as in `gpu_claims`.
    """
    moved = {
        "serial": seconds_of(parts, SERIAL, PAPER_NODES, KERNELS),
        "hybrid": seconds_of(parts, PAPER_WAY, PAPER_NODES, (*KERNELS, *BUS)),
    }
    whole = {name: seconds_of(parts, way, PAPER_NODES) for name, way in (("serial", SERIAL), ("hybrid", PAPER_WAY))}
    rows = [
        ("collision and streaming, serial", stated.serial - stated.serial_rest, moved["serial"]),
        ("the rest, serial", stated.serial_rest, whole["serial"] - moved["serial"]),
        ("collision, streaming and bus, hybrid", stated.hybrid - stated.hybrid_rest, moved["hybrid"]),
        ("the rest, hybrid", stated.hybrid_rest, whole["hybrid"] - moved["hybrid"]),
    ]
    table = pd.DataFrame(rows, columns=["what", "paper (ms)", "here (ms)"])
    table[["paper (ms)", "here (ms)"]] *= 1e3
    return table.assign(**{"here / paper": table["here (ms)"] / table["paper (ms)"]})


def collision_table(parts: pd.DataFrame) -> pd.DataFrame:
    """What collision alone on the GPU saves and pays, one row a grid, in seconds of an iteration.

    Columns nodes, "saved on the core", "bus", "kernel", "stays on the core", "the same in serial", speedup, and the
    least and most speedup of a run. Grids on which either way was not timed are left out.
    """
    rows = []
    for nodes in sorted(set(parts["nodes"])):
        serial, alone = (seconds_of(parts, way, nodes) for way in (SERIAL, COLLIDE_ONLY))
        if serial and alone:
            saved = seconds_of(parts, SERIAL, nodes, ("collide",))
            bus, kernel = (seconds_of(parts, COLLIDE_ONLY, nodes, part) for part in (BUS, ("collide",)))
            each = [seconds_of(r, SERIAL, nodes) / seconds_of(r, COLLIDE_ONLY, nodes) for r in one_by_one(parts)]
            parted = (saved, bus, kernel, alone - bus - kernel, serial - saved)
            rows.append((nodes, *parted, serial / alone, min(each), max(each)))
    columns = ["nodes", "saved on the core", "bus", "kernel", "stays on the core", "the same in serial"]
    return pd.DataFrame(rows, columns=[*columns, "speedup", "least", "most"])


def boundary_on_host(parts: pd.DataFrame) -> list[float]:
    """Speedup of the paper's way on 128^3 nodes, by run, if its boundary nodes took the time of the serial sweep's."""
    speedups = []
    for run in one_by_one(parts):
        serial, hybrid = (seconds_of(run, way, PAPER_NODES) for way in (SERIAL, PAPER_WAY))
        on_core, on_gpu = (seconds_of(run, way, PAPER_NODES, ("boundary",)) for way in (SERIAL, PAPER_WAY))
        speedups.append(serial / (hybrid - on_gpu + on_core))
    return speedups


def bus_rate(stated: Paper) -> float:
    """Bytes a second over the bus if the paper's collision and streaming were nothing but the copies there and back."""
    return 2 * D3Q19.q * 8 * PAPER_NODES**3 / (stated.hybrid - stated.hybrid_rest)


def run_speedups(table: pd.DataFrame) -> dict[int, np.ndarray]:
    """Speedup of the paper's way over the serial sweep in each run, by the nodes a side; `table` is of `iterations`."""
    rows = table.set_index(["way", "nodes"])["runs"]
    return {
        nodes: np.divide(rows[SERIAL, nodes], rows[PAPER_WAY, nodes]) for way, nodes in rows.index if way == PAPER_WAY
    }


def speedups_table(table: pd.DataFrame) -> pd.DataFrame:
    """The range of `run_speedups`: columns nodes, least, median, most."""
    rows = [(nodes, each.min(), np.median(each), each.max()) for nodes, each in run_speedups(table).items()]
    return pd.DataFrame(rows, columns=["nodes", "least", "median", "most"])


def baseline(table: pd.DataFrame, nodes: int) -> str:
    """What the speedups on a grid are over; `table` is from `iterations`."""
    row = table.set_index(["way", "nodes"]).loc[(SERIAL, nodes)]
    return f"the serial sweep, one core: {row['mlups']:.2f} MLUPS"


def one_by_one(parts: pd.DataFrame) -> list[pd.DataFrame]:
    """The parts of each run alone, with its own seconds, of the ways that claims compare."""
    parts = parts[parts["way"].isin(COMPARED)]
    return [
        parts.assign(seconds=[values[run] for values in parts["runs"]]) for run in range(min(map(len, parts["runs"])))
    ]


def scatter(parts: pd.DataFrame, claims: Callable[[pd.DataFrame], dict]) -> dict[str, float | None]:
    """How far apart the values of claims lie in independent runs; None with fewer runs than tell that.

    `claims` gives {claim: value} of the parts of one run.
    """
    runs = [claims(run) for run in one_by_one(parts)]
    enough = len(runs) >= RUNS
    return {claim: float(np.ptp([run[claim] for run in runs])) if enough else None for claim in claims(parts)}


def core_claims(parts: pd.DataFrame) -> dict:
    """{claim: value} of one core: seconds."""
    return {ON_CORE: seconds_of(parts, SERIAL, PAPER_NODES)}


def serial_share(parts: pd.DataFrame, nodes: int = PAPER_NODES) -> float:
    """Share of collision and streaming in an iteration of our serial sweep, per cent."""
    return 100 * seconds_of(parts, SERIAL, nodes, KERNELS) / seconds_of(parts, SERIAL, nodes)


def gpu_claims(parts: pd.DataFrame) -> dict[str, float]:
    """{claim: value} of the paper's way and of collision alone on the GPU, on the grids of ON_GPU.

    The copies over the bus count with collision and streaming, which they are made for.
    """
    speedup = iterations(parts).set_index(["way", "nodes"])["speedup"]
    seconds, moved = (seconds_of(parts, PAPER_WAY, PAPER_NODES, names) for names in (None, (*KERNELS, *BUS)))
    return {
        "swap-003": seconds,
        "swap-004": float(speedup[PAPER_WAY, PAPER_NODES]),
        "swap-008": 100 * moved / seconds,
        "swap-019": seconds_of(parts, SERIAL, PAPER_NODES, KERNELS) / moved,
        "swap-009": float(speedup[PAPER_WAY, LARGEST]),
        "swap-010": float(100 * (speedup[PAPER_WAY, LARGEST] / speedup[COLLIDE_ONLY, LARGEST] - 1)),
        "swap-011": float(speedup[COLLIDE_ONLY, LARGEST]),
    }


def compared(parts: pd.DataFrame) -> bool:
    """Whether the ways that claims compare were timed on both of their grids; one that did not fit is missing."""
    timed = set(zip(parts["way"], parts["nodes"], strict=True))
    return {(way, nodes) for way in COMPARED for nodes in (PAPER_NODES, LARGEST)} <= timed


def record_claims(record, parts: pd.DataFrame, on_gpu: bool) -> None:
    """Give the notebook's `record` what was measured; what a run has not is not measured.

    Nor is the share of collision and streaming in the serial program: it is one of Palabos' parts, and our sweep is
    another program.
    """
    palabos = "the share is Palabos', which this study has not run yet"
    table = iterations(parts)
    if PAPER_NODES in set(parts["nodes"]):
        note = f"on {PAPER_NODES}^3 nodes"
        record.measure(ON_CORE, core_claims(parts)[ON_CORE], scatter=scatter(parts, core_claims)[ON_CORE], note=note)
        record.not_measured(SHARE, f"{palabos}; our own sweep takes {serial_share(parts):.1f} %")
    else:
        record.not_measured(ON_CORE, f"needs the paper's grid of {PAPER_NODES}^3")
        record.not_measured(SHARE, palabos)
    if on_gpu and compared(parts):
        scatters = scatter(parts, gpu_claims)
        for claim, value in gpu_claims(parts).items():
            how = {"scatter": scatters[claim], "baseline": baseline(table, ON_GPU[claim])}
            record.measure(claim, value, **how, note=f"on {ON_GPU[claim]}^3 nodes")
        each = run_speedups(table)
        speedups = {str(nodes): list(each[nodes]) for nodes in (PAPER_NODES, LARGEST)}
        ranges = ", ".join(f"{nodes}^3: {min(values):.1f} to {max(values):.1f}" for nodes, values in speedups.items())
        record.measure(TREND, speedups, note=ranges)
    else:
        for claim in (*ON_GPU, TREND):
            record.not_measured(claim, f"needs a GPU and the memory for the grids of {PAPER_NODES}^3 and {LARGEST}^3")
