"""The tables of the sph paper's speed notebook: readings of its case, a ladder of baselines, tables 1 and 2."""

import shutil
import subprocess
import tempfile
from functools import partial
from itertools import product
from math import log
from pathlib import Path

import numpy as np
import pandas as pd

from repro.errors import CheckError, InputError
from repro.papers.speed import speed_table, speedups
from repro.parallel import CpuDevice, host_clock, measure, select
from repro.sph.benchmark import INCLUDES, check_strategy, facts_of, measure_speed, part_samples
from repro.sph.cases import DamBreak
from repro.sph.simulation import Simulation
from repro.sph.system import System

#: the paper's programs, by the names of table 1
PAPER, GPU_LIST, FOUR_THREADS, ONE_CORE = "this paper", "GPU linked list", "CPU multithread", "CPU"

#: the paper's search with the sort in global memory, and our fast search, on the device and on all cores
GLOBAL_SORT, SORTED_CELLS, SORTED_ON_CORES = "sort in global memory", "sorted cells", "sorted cells, all cores"

#: particles of the columns of water by the paper's thousands of particles, ghosts counted, in one shape of tank
COLUMNS = {15: (20, 20, 25), 30: (26, 26, 33), 70: (36, 36, 43)}

#: names of the parts that the paper's table 2 tells apart
GROUPS = NEIGHBOUR_LIST, FORCE, UPDATE = "neighbour list", "force", "update"

#: thousands of particles whose step the paper takes apart
PARTS_OF = 15

#: threads of the paper's Quadro K4000, and the thousands of particles of fluid that it has on them, about ten to 46
PAPER_THREADS, PAPER_FLUID = 8192, (9, 50)

#: programs that run at equal load, and the two of the paper among them
LOADED_WAYS = PAPER, GPU_LIST, GLOBAL_SORT, SORTED_CELLS
PAIR = LOADED_WAYS[:2]

#: the ladder of baselines on a CPU: search, and whether it runs on all cores; headlines quote the last one first
RUNGS = {
    "linked list": ("linked list", False),
    "each pair once": ("linked list, pairs once", False),
    "sorted": ("sorted cells, pairs once", False),
    "vectorised": ("sorted cells, pairs once, vectorised", False),
    "all cores": ("sorted cells", True),
}


def system_of(thousands: int, ratio: float = 1.3, still: bool = True) -> System:
    """The paper's dam break with so many thousand particles, ghosts counted, in a reading of its text."""
    if thousands not in COLUMNS:
        raise InputError(f"{thousands} thousand particles: table 1 has {', '.join(map(str, COLUMNS))}")
    return DamBreak.of_paper(COLUMNS[thousands], ratio=ratio, still=still).system()


def pysph_system() -> System:
    """Fluid as in PySPH's case: 24 x 19 x 11 particles in a tank of 3.2 m x 0.95 m x 1 m."""
    return DamBreak(column=(24, 19, 11), width=1.2, length=64 / 24, height=20 / 24).system()


def paper_groups(simulation: Simulation) -> dict[str, str]:
    """Which of GROUPS each part of a step belongs to; what is neither list nor update is force, the density too."""
    groups = dict.fromkeys(simulation.parts, FORCE) | dict.fromkeys(simulation._lists.parts, NEIGHBOUR_LIST)
    return groups | {"drift": UPDATE, "kick": UPDATE}


def on_threads(count: int) -> CpuDevice:
    """A CPU with so many threads, or fewer where there are fewer cores; with one the particles come one by one."""
    return CpuDevice("threads", workers=min(count, select("threads").workers))


def ways(device) -> dict:
    """Search and device of each program by name; without a GPU the paper's method runs on all cores."""
    gpu = device.name == "cuda"
    programs = {PAPER: ("cell table, block sort", device)}
    programs |= {GPU_LIST: ("linked list", device), GLOBAL_SORT: ("cell table", device)} if gpu else {}
    programs |= {FOUR_THREADS: ("linked list", on_threads(4)), ONE_CORE: ("linked list", on_threads(1))}
    programs |= {SORTED_CELLS: (SORTED_CELLS, device)}
    return programs | ({SORTED_ON_CORES: (SORTED_CELLS, select("threads"))} if gpu else {})


def _sampled(system: System, strategy: str, device, samples: int) -> tuple[Simulation, pd.DataFrame]:
    """A simulation and its parts in ms, a row a sample, once its strategy has been checked."""
    check_strategy(device, strategy=strategy)
    simulation = Simulation(system, device, strategy=strategy)
    return simulation, 1e3 * pd.DataFrame(part_samples(simulation, samples))


def _middle(ms: pd.Series) -> dict:
    """Median, and the quartiles between which half of the samples lie."""
    return {"ms": ms.median(), "from": ms.quantile(0.25), "to": ms.quantile(0.75)}


def readings_table(ratios, samples: int) -> pd.DataFrame:
    """A step of 15 thousand particles by linked list on one core (ms of CPU time) in each reading of the paper's text.

    Its smoothing length is not stated; its ghosts "need no computation themselves", or take over the fluid's numbers.
    """
    rows = []
    for ratio, still in product(ratios, (True, False)):
        simulation, parts = _sampled(system_of(PARTS_OF, ratio, still), "linked list", on_threads(1), samples)
        row, facts = {"h over spacing": ratio, "pass over ghosts": not still}, facts_of(simulation)
        rows.append(row | {name: facts[name] for name in ("neighbours", "ghosts")} | _middle(parts.sum(axis=1)))
    return pd.DataFrame(rows)


def ladder_table(thousands: int, samples: int, record=None) -> pd.DataFrame:
    """A step (ms) of each of RUNGS: median, quartiles and the "least", and how much faster it is than earlier rungs.

    On one core the sum of the parts by the CPU time of its thread, on all cores whole steps, whose parts wait for all.
    """
    system, rows = system_of(thousands), []
    for rung, (strategy, all_cores) in RUNGS.items():
        device = select("threads") if all_cores else on_threads(1)
        if all_cores:
            step = _whole_steps(system, strategy, device, samples)
        else:
            step = _sampled(system, strategy, device, samples)[1].sum(axis=1)
        about = {"strategy": strategy, "device": device.name, "hardware": device.description}
        rows.append({"rung": rung, **about, **_middle(step), "least": step.min()})
        if record is not None:
            more = {"precision": "single", "size": f"{thousands} thousand particles", "includes": INCLUDES}
            check = check_strategy(device, strategy=strategy)
            spread = float((step.max() - step.min()) / step.median())
            record.timing(f"rung: {rung}", seconds=step.median() / 1e3, spread=spread, **about, **more, check=check)
    table = pd.DataFrame(rows)
    return table.assign(gain=table["ms"].shift() / table["ms"], **{"of all": table["ms"].iloc[0] / table["ms"]})


def _whole_steps(system: System, strategy: str, device, samples: int) -> pd.Series:
    """Milliseconds of a step, the mean of ten, in each of some samples."""
    check_strategy(device, strategy=strategy)
    simulation = Simulation(system, device, strategy=strategy)
    simulation.advance(10)
    return pd.Series([100 * host_clock(partial(simulation.advance, 10), device) for _ in range(samples)])


def plain_c(root: Path, thousands: int, ratio: float = 1.3, steps: int = 20) -> pd.Series | None:
    """The plain C program of a checkout on this machine, by the CPU time of its thread; None without a compiler.

    In ms, "linked list" and "each pair once" of a step, the least of so many, and its mean number of "neighbours".
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    source = root / "tools" / "peers" / "sph_linked_list.c"
    (nx, ny, nz), tank = COLUMNS[thousands], round(2.5 * COLUMNS[thousands][0])
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/list"
        subprocess.run([compiler, "-O3", "-march=native", str(source), "-o", program, "-lm"], check=True)
        size = map(str, (nx, ny, nz, tank, ny, ratio, steps))
        done = subprocess.run([program, *size], check=True, capture_output=True, text=True)
    fluid, ghosts, neighbours, build, density, _, forces, density_once, forces_once = map(float, done.stdout.split(","))
    if fluid != nx * ny * nz:
        raise CheckError(f"the C program has {fluid:g} particles of fluid, not {nx * ny * nz}")
    times = {"linked list": build + density + forces, "each pair once": build + density_once + forces_once}
    return pd.Series(times | {"neighbours": neighbours, "ghosts": ghosts})


def beside_plain_c(ladder: pd.DataFrame, plain: pd.Series | None) -> pd.DataFrame:
    """`ladder_table` with the times of `plain_c` beside the rungs that it has, and without it where there is none."""
    times = {} if plain is None else dict(plain)
    return ladder.assign(**{"plain C, least (ms)": [times.get(rung, np.nan) for rung in ladder["rung"]]})


def over_plain_c(ladder: pd.DataFrame, plain: pd.Series) -> dict:
    """How many times as long as `plain_c` our linked list takes, the least time of both; holds if no more than 5 %."""
    ratio = float(ladder.set_index("rung").loc["linked list", "least"] / plain["linked list"])
    return {"ratio": ratio, "holds": ratio <= 1.05}


def time_table(systems: dict, device, record=None, *, seconds: float, runs: int, only=None) -> pd.DataFrame:
    """Whole steps of every program, or of those named `only`, with the systems by the thousands of their particles."""
    cases = [(n, way, *how) for n in systems for way, how in ways(device).items() if only is None or way in only]
    listed = [
        (f"{n}k, {way}, {on.name}", systems[n], on, {"strategy": strategy, "seconds": seconds, "runs": runs})
        for n, way, strategy, on in cases
    ]
    table = speed_table(listed, record, measured=measure_speed, includes=INCLUDES)
    table = table.assign(thousands=[n for n, *_ in cases], way=[way for _, way, *_ in cases])
    table = table.assign(ms=1e3 * table["seconds"], **{"million/s": table["updates"] / 1e6})
    bases = [way for way in (FOUR_THREADS, ONE_CORE) if way in set(table["way"])]
    return speedups(table, bases, "thousands", "million/s")


def loaded_systems(columns) -> dict[int, System]:
    """Columns of more particles in the paper's shape of tank, by their thousands of particles of fluid."""
    found = [DamBreak.of_paper(tuple(column)).system() for column in columns]
    return {round(system.count / 1000): system for system in found}


def at_equal_load(systems: dict[int, System], device) -> dict[int, System]:
    """Those of `loaded_systems` with as many particles a thread of a GPU as the paper has on its own."""
    if not systems or device.name != "cuda":
        return {}
    properties = device.xp.cuda.runtime.getDeviceProperties(device.xp.cuda.Device().id)
    threads = properties["multiProcessorCount"] * properties["maxThreadsPerMultiProcessor"]
    low, high = (thousands * threads / PAPER_THREADS for thousands in PAPER_FLUID)
    return {n: system for n, system in systems.items() if low <= n <= high}


def parts_table(device, systems=None, *, samples: int = 20, runs: int = 1, only=None) -> pd.DataFrame:
    """Milliseconds of the parts of a step in each sample: thousands, way, device, run, sample, part, group, ms.

    Of table 2, or of `systems` by their thousands; of all programs on a GPU, or of those named `only`, without a GPU of
    the one for one core alone. Independent runs are built anew.
    """
    systems, rows = {PARTS_OF: system_of(PARTS_OF)} if systems is None else systems, []
    names = [PAPER, GPU_LIST, ONE_CORE] if device.name == "cuda" else [ONE_CORE]
    for n, way in product(systems, [name for name in names if only is None or name in only]):
        strategy, on = ways(device)[way]
        for run in range(runs):
            simulation, parts = _sampled(systems[n], strategy, on, samples)
            long = parts.rename_axis("sample").reset_index().melt("sample", var_name="part", value_name="ms")
            named = long.assign(thousands=n, way=way, device=on.name, run=run)
            rows.append(named.assign(group=long["part"].map(paper_groups(simulation))))
    return pd.concat(rows, ignore_index=True)


def groups_of(parts: pd.DataFrame) -> pd.DataFrame:
    """Milliseconds of each of GROUPS in each sample; "density" apart."""
    apart = parts["group"].where(parts["part"] != "density", "density")
    return parts.assign(group=apart).groupby(["way", "run", "sample", "group"], sort=False)["ms"].sum().unstack("group")


def group_times(parts: pd.DataFrame) -> pd.DataFrame:
    """Milliseconds of each of GROUPS and of the density, which is in none of them, a row a way: medians of samples."""
    return groups_of(parts).groupby("way", sort=False).median()[[NEIGHBOUR_LIST, "density", FORCE, UPDATE]]


def groups_by_size(parts: pd.DataFrame) -> pd.DataFrame:
    """`group_times` of each size, a row a size and way, with the share of the neighbour list in a step (%)."""
    found = {n: group_times(rows) for n, rows in parts.groupby("thousands")}
    table = pd.concat(found, names=["thousands"])
    return table.assign(**{"list (%)": 100 * table[NEIGHBOUR_LIST] / table.sum(axis=1)}).reset_index()


def group_scatter(parts: pd.DataFrame) -> pd.DataFrame:
    """Half of the samples lie between these quartiles, a row a way and group (ms)."""
    long = groups_of(parts).stack().rename("ms").reset_index()
    quartiles = long.groupby(["way", "group"], sort=False)["ms"].quantile([0.25, 0.5, 0.75]).unstack()
    return quartiles.set_axis(["from", "ms", "to"], axis=1).reset_index().assign(samples=parts["sample"].nunique())


def with_density(groups: pd.DataFrame) -> pd.DataFrame:
    """Times of GROUPS as the paper words them: its method has the density in the list, linked lists in the force."""
    merged = groups[list(GROUPS)].copy()
    for way in merged.index:
        merged.loc[way, NEIGHBOUR_LIST if way == PAPER else FORCE] += groups.loc[way, "density"]
    return merged


def list_shares(parts: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Share of the neighbour list in a step (%), with the density in the list or not, and in the paper's table 2."""
    groups = group_times(parts)
    whole, listed = groups.sum(axis=1), groups[NEIGHBOUR_LIST]
    printed = paper.loc[groups.index]
    columns = {
        "without density (%)": 100 * listed / whole,
        "with density (%)": 100 * (listed + groups["density"]) / whole,
        "paper (%)": 100 * printed[NEIGHBOUR_LIST] / printed.sum(axis=1),
    }
    return pd.DataFrame(columns, groups.index).rename_axis("way").reset_index()


def growth(table: pd.DataFrame, way: str) -> float:
    """The power of the number of particles, ghosts too, with which a step of a program grows, first to last size."""
    rows = table[table["way"] == way].sort_values("particles")
    ms, all_particles = rows["ms"], rows["particles"] + rows["ghosts"]
    return log(ms.iloc[-1] / ms.iloc[0]) / log(all_particles.iloc[-1] / all_particles.iloc[0])


def growth_table(table: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """That power of each program, here and in the paper's table 1, where there are two sizes or more."""
    found = [way for way in table["way"].unique() if way in paper.index and (table["way"] == way).sum() > 1]
    stated = [log(paper.loc[way].iloc[-1] / paper.loc[way].iloc[0]) / log(max(COLUMNS) / min(COLUMNS)) for way in found]
    here = [growth(table, way) for way in found]
    return pd.DataFrame({"way": found, "power here": here, "power in the paper": stated})


def copy_table(thousands: int, device, frames, *, samples: int) -> pd.DataFrame:
    """What it costs to copy the positions to the host every so many frames, as in figure 2: share of all time (%)."""
    strategy, on = ways(device)[PAPER]
    simulation = Simulation(system_of(thousands), on, strategy=strategy)
    simulation.advance(2)
    host = on.to_host(simulation.state.r)
    copy = measure(lambda: on.download(simulation.state.r, host), on, repeats=samples).seconds
    step = sum(np.median(times) for times in part_samples(simulation, samples).values())
    rows = [(every, 1e3 * step, 1e3 * copy, 100 * copy / (copy + every * step)) for every in frames]
    return pd.DataFrame(rows, columns=["frames a copy", "step (ms)", "copy (ms)", "share of the copy (%)"])


def pysph_table(device, record=None, *, seconds: float) -> pd.DataFrame:
    """The `summary` of the fast search with PySPH's fluid, on all cores and on a GPU."""
    devices = [select("threads")] + [device] * (device.name == "cuda")
    listed = [(f"PySPH's fluid, {on.name}", pysph_system(), on, {"seconds": seconds}) for on in devices]
    table = speed_table(listed, record, measured=measure_speed, includes=INCLUDES)
    table = table.assign(ms=1e3 * table["seconds"], way=SORTED_CELLS, **{"million/s": table["updates"] / 1e6})
    return summary(table)


def other_codes(data: Path) -> pd.DataFrame:
    """Steps of other codes, from the folder `data`."""
    return pd.read_csv(data / "reference" / "sph_speeds.csv", comment="#")


def over_rungs(times: pd.DataFrame, ladder: pd.DataFrame, thousands: int = PARTS_OF) -> pd.DataFrame:
    """How often a program of `time_table` is as fast as each rung of `ladder_table`, the last rung first."""
    fast = times[(times["thousands"] == thousands) & (times["way"].isin([PAPER, GPU_LIST, SORTED_CELLS]))]
    gains = {way: ladder["ms"] / ms for way, ms in zip(fast["way"], fast["ms"], strict=True)}
    return pd.DataFrame({"over": ladder["rung"], "its ms": ladder["ms"], **gains}).iloc[::-1]


def headline(times: pd.DataFrame, paper: pd.DataFrame) -> str:
    """The speedup of the paper's search over one core with the most particles of `time_table`, beside its table 1."""
    most = times[times["way"] == PAPER].nlargest(1, "thousands").iloc[0]
    where = "a GPU" if most["device"] == "cuda" else "all cores"
    stated = paper.loc[ONE_CORE, most["thousands"]] / paper.loc[PAPER, most["thousands"]]
    gain = f"{most[f'over {ONE_CORE}']:.3g} times as fast as by linked lists on one core (paper's GPU: {stated:.1f})"
    return f"On {where} a step by the paper's search is {gain}."


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that a reader compares."""
    columns = ["thousands", "way", "device", "particles", "ghosts", "neighbours", "ms", "spread", "million/s"]
    return table[[name for name in columns if name in table] + [name for name in table if name.startswith("over ")]]
