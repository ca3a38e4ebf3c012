"""The tables of the speed notebook: speeds, speedups, parts of a step and other codes; and the paper's claims.

It claims more than 30 times all cores, and the more the fewer particles there are.
"""

import gc
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from repro.errors import require_one_of, require_whole
from repro.papers.speed import speed_table
from repro.parallel import require_memory, require_room, select
from repro.pic.benchmark import INCLUDES, measure_speed, part_times
from repro.pic.cases import DRAWN, Plasma, UniformSource
from repro.pic.simulation import Simulation
from repro.pic.state import bytes_each

from .programs import BATCHES, BATCHES_ON_CORE, LOOP, ON_CORES, ON_GPU, ON_ONE_CORE, PAPER, PRODUCTION, programs

#: the speedup with 30 million particles, and that it grows when there are fewer
SPEEDUP, TREND = JUDGED = ("electrons-001", "electrons-012")

#: particles, cores and GPUs of the paper's test, which are not judged
SETUP = ("electrons-002", "electrons-008", "electrons-009")

#: particles of the speedup, and the names that the trend's claim has for particles
PAPER_PARTICLES = 30_000_000
TREND_NAMES = {300_000: "3e5", 3_000_000: "3e6", PAPER_PARTICLES: "3e7"}

#: particles a cell of the paper's test, of which the paper says nothing
PER_CELL = 30

#: programs that stand beside other codes
BEST = [PAPER, PRODUCTION, BATCHES, BATCHES_ON_CORE]

#: what stands where a program has no such number, or another code's is not known
UNKNOWN = "-"

#: what a part of a step is counted to, by words in its name
GROUPS = {
    "segments": ("particles", "launches"),
    "births": ("births", "clock"),
    "currents of blocks or cores": ("sum ",),
    "bus": ("to the device", "to the host"),
    "fields": ("field", "current"),
    "sorting": ("sorting",),
}


#: the cells along each axis are a multiple of this where processes share them: 1, 2, 4 ... 512 of them divide it
DIVISIBLE = 8


def cube(particles: int, case=UniformSource, *, multiple: int = 1):
    """The paper's test, or another case, with exactly so many particles at the start, about PER_CELL of them a cell.

    The cells along each axis are a `multiple`, the nearest one: with few particles, far more or fewer in each.
    """
    require_whole("particles", particles, PER_CELL, 2**31 - 1)
    cells = multiple * max(1, round((particles / PER_CELL) ** (1 / 3) / multiple))
    return case(cells=cells, per_cell=particles / cells**3)


def require_fit(device, sizes, plasma: int) -> None:
    """Raise MemoryLimitError if the most particles do not fit on a device, or a plasma's where they are drawn."""
    most = max(sizes)
    require_memory(device, most * bytes_each(np.float32), f"{most} particles", "use fewer particles")
    require_room(plasma, DRAWN)


def chosen(device, particles: int, names=None, *, one_core: int = 0) -> dict[str, tuple]:
    """The programs for so many particles, of those in `names`: a GPU's where one is, one core's up to `one_core`."""
    require_whole("particles of one core", one_core, 0, 2**31 - 1)
    for name in names or ():
        require_one_of("program", name, [*ON_GPU, *ON_CORES, *ON_ONE_CORE])
    found = programs(device)
    wanted = [name for name in found if names is None or name in names]
    return {name: found[name] for name in wanted if name not in ON_ONE_CORE or particles <= one_core}


def speeds(
    sizes, device, record=None, *, names=None, precision="single", one_core=0, seconds, runs, case=UniformSource
) -> pd.DataFrame:
    """Speeds of the programs with each number of particles, for the `record`, too; `ns` is a step of a particle."""
    rows, options = [], {"precision": precision, "seconds": seconds, "runs": runs}
    for particles in sizes:
        system = cube(particles, case).system()
        for name, (on, how) in chosen(device, particles, names, one_core=one_core).items():
            run = f"{system.name}, {particles} particles, {name}, {precision}", system, on, how | options
            row = speed_table([run], record, measured=measure_speed, includes=INCLUDES)
            rows.append(row.assign(program=name, size_of=particles, system=system.name))
    if not rows:
        return pd.DataFrame()
    table = pd.concat(rows, ignore_index=True)
    return table.assign(ns=1e9 / table["updates"])


def slow_speeds(particles: int, device, record=None, *, one_core: int, names, precisions, seconds) -> pd.DataFrame:
    """Speeds in the slow plasma, each of one run; programs of one core have at most `one_core` particles, 0: none."""
    sizes = {name: min(particles, one_core) if name in ON_ONE_CORE else particles for name in names}
    options = {"one_core": one_core, "case": Plasma, "seconds": seconds, "runs": 1}
    each = []
    for precision, name in product(precisions, filter(sizes.get, sizes)):
        each.append(speeds([sizes[name]], device, record, names=[name], precision=precision, **options))
    return pd.concat(each, ignore_index=True)


def speedups(table: pd.DataFrame) -> pd.DataFrame:
    """How much faster each program of the GPU is than each of all cores, from `speeds` of one case and precision.

    Columns particles, program, over, speedup, and that of each independent run.
    """
    rows = []
    for particles, group in table.groupby("size_of", sort=False):
        timed = group.set_index("program")
        for name, over in product(ON_GPU, ON_CORES):
            if {name, over} <= set(timed.index):
                fast, base = timed.loc[name], timed.loc[over]
                runs = [b / a for a, b in zip(fast["runs"], base["runs"], strict=True)]
                rows.append((particles, name, over, base["ns"] / fast["ns"], runs))
    return pd.DataFrame(rows, columns=["particles", "program", "over", "speedup", "runs"])


def parts(particles: int, device, names, *, steps: int = 5) -> pd.DataFrame:
    """Nanoseconds a particle of the parts of a step of the named programs; columns program, part, group and ns."""
    system, rows = cube(particles).system(), []
    for name, (on, how) in chosen(device, particles, names).items():
        simulation = Simulation(system, on, precision="single", **how)
        times = part_times(simulation, steps=steps)
        rows += [(name, part, group_of(part), 1e9 * time / particles) for part, time in times.items()]
        # two at once might not fit, and its recorded steps name it
        del simulation
        gc.collect()
    return pd.DataFrame(rows, columns=["program", "part", "group", "ns"])


def part_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Share of each of GROUPS in a step (%), a row a program with its ns of a particle; from `parts`."""
    sums = table.pivot_table(index="program", columns="group", values="ns", aggfunc="sum", sort=False, fill_value=0.0)
    whole = sums.sum(axis=1)
    return (100 * sums.div(whole, axis=0)).assign(**{"step (ns)": whole})


def relative_times(table: pd.DataFrame) -> pd.DataFrame:
    """Time of a step of a particle over that with the most particles, a row a program timed with these."""
    ns = table.pivot_table(index="program", columns="size_of", values="ns", sort=False)
    return ns.div(ns[ns.columns.max()], axis=0).dropna()[sorted(ns.columns)]


def over_the_papers_cores(speedup: float, setup: pd.DataFrame) -> float:
    """A `speedup` over the loop on all cores, over as many as the paper has for a GPU; with `setup`.

    An estimate: as if the loop were as fast as its cores are many.
    """
    rows = setup.set_index("id")[["paper", "here"]].astype(int)
    _, cores, gpus = SETUP
    return speedup * rows.loc[cores, "here"] * rows.loc[gpus, "paper"] / rows.loc[cores, "paper"]


def group_of(part: str) -> str:
    """What of GROUPS a part of a step is counted to."""
    return next(group for group, words in GROUPS.items() if any(word in part for word in words))


def summary(*tables: pd.DataFrame) -> pd.DataFrame:
    """The columns of `speeds` that a reader compares; a dash where a program has no such number."""
    table = pd.concat(tables, ignore_index=True)
    named = table.assign(**{"10^6 segments/s": table["segments"] / 1e6, "ms": 1e3 * table["seconds"]})
    columns = ["system", "program", "device", "precision", "particles", "cells", "per step", "ms", "ns", "spread"]
    columns += ["10^6 segments/s", "launches", "busy", "sort every"]
    return named[columns].rename(columns={"per step": "segments/step"}).fillna({"busy": UNKNOWN})


def comparison(tables, data: Path) -> pd.DataFrame:
    """Our best program on a GPU and on one core beside other codes (reference/pic_speeds.csv in `data`), by ns.

    `tables` are of `speeds`; columns code, case, precision, particles, ns, where, hardware, who.
    """
    others = pd.read_csv(data / "reference" / "pic_speeds.csv", comment="#")
    columns = ["code", "case", "precision", "particles", "ns", "where", "hardware", "who"]
    ours = pd.concat(tables, ignore_index=True)
    places = ours["program"].map(dict.fromkeys(ON_GPU, "GPU") | dict.fromkeys(ON_ONE_CORE, "one core"))
    ours = ours.assign(where=places, code="here: " + ours["program"], case=ours["system"], who="this run")
    best = ours.dropna(subset="where").sort_values("ns").drop_duplicates(["where", "case", "precision"])
    places = others["device"].map({"cuda": "GPU", "core": "one core"})
    others = others.assign(where=places, case=UNKNOWN, precision=UNKNOWN, particles=UNKNOWN)
    both = pd.concat([best[columns], others[columns]], ignore_index=True)
    return both.sort_values(["where", "ns"], ignore_index=True)


def setup(stated, particles, gpus: int) -> pd.DataFrame:
    """The paper's set-up beside ours, a row a claim of `stated` (by id)."""
    ours = dict(zip(SETUP, (max(particles), select("threads").workers, gpus), strict=True))
    rows = [(c.id, c.quantity, c.case, c.value, ours[c.id]) for c in stated.values()]
    return pd.DataFrame(rows, columns=["id", "quantity", "case", "paper", "here"])


def headline(table: pd.DataFrame, stated: float) -> str:
    """What `speeds` of the most particles say, in a sentence beside the speedup that the paper has `stated`."""
    rows = table[table["size_of"] == table["size_of"].max()].set_index("program")
    ns, electrons = rows["ns"], f"{rows['size_of'].iloc[0]:,} electrons"
    program = PAPER if PAPER in ns else BATCHES
    gain = f"moves {electrons} {ns[LOOP] / ns[program]:.3g} times as fast as a loop on all cores"
    if program == PAPER:
        return f"In the paper's way one GPU {gain}; paper: over {stated:g} with four."
    return f"Without a GPU vector code {gain}: {ns[program]:.3g} ns each in a step."


def claim_values(speedups: pd.DataFrame, speeds: pd.DataFrame) -> dict[str, dict]:
    """Keywords of `Record.measure` for the claims that a run can test, by id, from `speedups` and `speeds`.

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
