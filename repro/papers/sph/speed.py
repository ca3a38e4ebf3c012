"""The tables of the sph paper's speed notebook: tables 1 and 2, what is fast today, another code; and the claims."""

from pathlib import Path

import pandas as pd

from repro.errors import InputError
from repro.papers.speed import speed_table, speedups
from repro.parallel import CpuDevice, part_times, select
from repro.sph.benchmark import INCLUDES, measure_speed
from repro.sph.cases import DamBreak
from repro.sph.simulation import Simulation
from repro.sph.system import System

#: the paper's programs, by the names of table 1
PAPER, GPU_LIST, FOUR_THREADS, ONE_CORE = "this paper", "GPU linked list", "CPU multithread", "CPU"

#: our fast search, on the device and on all cores
SORTED_CELLS, SORTED_ON_CORES = "sorted cells", "sorted cells, all cores"

#: particles of the columns of water by the paper's thousands of particles, of which two thirds are fluid as in figure 6
COLUMNS = {15: (25, 8, 50), 30: (25, 16, 50), 70: (36, 18, 72)}

#: names of the parts that the paper's table 2 tells apart
GROUPS = NEIGHBOUR_LIST, FORCE, UPDATE = "neighbour list", "force", "update"

#: the paper merges density and pressure into its own method's building of the table (section 2); of the linked lists
#: that it compares with, the table takes too little time for a sum over neighbours
_DENSITY_IN_LIST = ("cell table", "sorted cells")

#: thousands of particles whose step the paper takes apart
PARTS_OF = 15

#: claims of table 1 by program: time of a step in ms with 15, 30 and 70 thousand particles
_TABLE_1 = {
    PAPER: ("sph-001", "sph-005", "sph-009"),
    GPU_LIST: ("sph-002", "sph-006", "sph-010"),
    FOUR_THREADS: ("sph-003", "sph-007", "sph-011"),
    ONE_CORE: ("sph-004", "sph-008", "sph-012"),
}

#: claims of table 2 by program: time in ms of each of GROUPS with 15 thousand particles
_TABLE_2 = {
    PAPER: ("sph-013", "sph-014", "sph-015"),
    GPU_LIST: ("sph-016", "sph-017", "sph-018"),
    ONE_CORE: ("sph-019", "sph-020", "sph-021"),
}

#: claims of the paper's method over four threads and over one core, on the order of the programs by the time of a step,
#: and on that of both GPU programs by the time of the neighbour list and of the force
OVER_THREADS, OVER_CORE, ORDER, LIST_ORDER, FORCE_ORDER = (f"sph-{n:03d}" for n in (22, 23, 34, 35, 36))
CLAIMS = sorted(
    [OVER_THREADS, OVER_CORE, ORDER, LIST_ORDER, FORCE_ORDER]
    + [name for table in (_TABLE_1, _TABLE_2) for names in table.values() for name in names]
)


def system_of(thousands: int) -> System:
    """The dam break that stands for the paper's with so many thousand particles."""
    if thousands not in COLUMNS:
        raise InputError(f"{thousands} thousand particles: table 1 has {', '.join(map(str, COLUMNS))}")
    return DamBreak(column=COLUMNS[thousands]).system()


def pysph_system() -> System:
    """Fluid as in PySPH's case: 24 x 19 x 11 particles in a tank of 3.2 m x 0.95 m x 1 m."""
    return DamBreak(column=(24, 19, 11), width=1.2, length=64 / 24, height=20 / 24).system()


def large_system(column) -> System:
    """A column of many particles in a tank twice as long, with little air above: sites for ghosts take memory."""
    return DamBreak(column=tuple(column), length=2.0, height=2.5).system()


def paper_groups(simulation: Simulation) -> dict[str, str]:
    """Which of GROUPS the paper counts each part of a step to, by the names of `simulation.parts`.

    What the density needs is counted with it; ghosts' extrapolation, which follows it, is needed for the forces.
    """
    names, lists = list(simulation.parts), simulation._lists.parts
    merged = NEIGHBOUR_LIST if simulation.strategy in _DENSITY_IN_LIST else FORCE
    groups = {name: merged if k <= names.index("density") else FORCE for k, name in enumerate(names)}
    return groups | dict.fromkeys(lists, NEIGHBOUR_LIST) | {"drift": UPDATE, "kick": UPDATE}


def on_threads(count: int) -> CpuDevice:
    """A CPU with so many threads, or fewer where there are fewer cores; with one the particles come one by one."""
    return CpuDevice("threads", workers=min(count, select("threads").workers))


def ways(device) -> dict:
    """Search and device of each program by name; without a GPU the paper's method runs on all cores."""
    gpu = device.name == "cuda"
    programs = {PAPER: ("cell table", device)} | ({GPU_LIST: ("linked list", device)} if gpu else {})
    programs |= {FOUR_THREADS: ("linked list", on_threads(4)), ONE_CORE: ("linked list", on_threads(1))}
    programs |= {SORTED_CELLS: (SORTED_CELLS, device)}
    return programs | ({SORTED_ON_CORES: (SORTED_CELLS, select("threads"))} if gpu else {})


def published(verdicts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The paper's tables 1 and 2 in ms, a row a program, from the claims of `Record.verdicts`."""
    values = dict(zip(verdicts["id"], verdicts["paper"], strict=True))
    return tuple(
        pd.DataFrame({way: [float(values[name]) for name in names] for way, names in table.items()}, rows).T
        for table, rows in ((_TABLE_1, list(COLUMNS)), (_TABLE_2, GROUPS))
    )


def time_table(thousands, device, record=None, *, seconds: float = 0.2, runs: int = 1) -> pd.DataFrame:
    """Table 1: whole steps of every program with so many thousand particles, in single precision."""
    systems = {number: system_of(number) for number in thousands}
    cases = [(number, way, *how) for number in systems for way, how in ways(device).items()]
    table = _measured([(f"{n}k, {way}", systems[n], *how) for n, way, *how in cases], record, seconds, runs)
    table = table.assign(thousands=[number for number, *_ in cases], way=[way for _, way, *_ in cases])
    return speedups(table, (FOUR_THREADS, ONE_CORE), "thousands", "million/s")


def _measured(cases, record, seconds, runs=1) -> pd.DataFrame:
    options = {"seconds": seconds, "runs": runs}
    listed = [
        (f"{case}, {device.name}", system, device, options | {"strategy": s}) for case, system, s, device in cases
    ]
    table = speed_table(listed, record, measured=measure_speed, includes=INCLUDES)
    return table.assign(ms=1e3 * table["seconds"], **{"million/s": table["updates"] / 1e6})


def over_both(table: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """How often the paper's method is as fast as a CPU: over our programs, over the paper's times, and in the paper.

    From `time_table` and `published`. Columns thousands, "over" (the CPU's program), "its ms here", "its ms in the
    paper", and the speedups "over ours", "over the paper's" and "in the paper".
    """
    rows, ms = [], table.set_index(["way", "thousands"])["ms"]
    for way in (FOUR_THREADS, ONE_CORE):
        for number in table["thousands"].unique():
            fast, own, printed = ms[PAPER, number], ms[way, number], paper.loc[way, number]
            rows.append((number, way, own, printed, own / fast, printed / fast, printed / paper.loc[PAPER, number]))
    names = ["thousands", "over", "its ms here", "its ms in the paper", "over ours", "over the paper's", "in the paper"]
    return pd.DataFrame(rows, columns=names)


def parts_table(thousands: int, device, *, seconds: float = 0.02, runs: int = 1) -> pd.DataFrame:
    """Table 2: milliseconds of the parts of a step, columns way, run, part, group and ms, in independent runs.

    Without a GPU of the program for one core alone.
    """
    system, rows = system_of(thousands), []
    for way in _TABLE_2 if device.name == "cuda" else [ONE_CORE]:
        strategy, on = ways(device)[way]
        for run in range(runs):
            simulation = Simulation(system, on, strategy=strategy)
            times, groups = part_times(simulation, seconds=seconds), paper_groups(simulation)
            rows += [(way, on.name, run, part, groups[part], 1e3 * time) for part, time in times.items()]
    return pd.DataFrame(rows, columns=["way", "device", "run", "part", "group", "ms"])


def group_times(parts: pd.DataFrame) -> pd.DataFrame:
    """Milliseconds of each of GROUPS, a row a way, medians over the runs."""
    sums = parts.groupby(["way", "run", "group"], sort=False)["ms"].sum()
    return sums.groupby(["way", "group"], sort=False).median().unstack("group")[list(GROUPS)]


def list_shares(parts: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Share of the neighbour list in a step (%), here and in the paper's table 2; from `parts_table` and `published`.

    Columns way, "here (%)", "paper (%)", and in ms "list" and "force" of a step with the density in neither.
    """
    groups, bare = group_times(parts), group_times(parts[parts["part"] != "density"])
    shares = [100 * table[NEIGHBOUR_LIST] / table.sum(axis=1) for table in (groups, paper.loc[groups.index])]
    columns = {"here (%)": shares[0], "paper (%)": shares[1], "list": bare[NEIGHBOUR_LIST], "force": bare[FORCE]}
    return pd.DataFrame(columns, groups.index).reset_index()


def neighbour_cost(times: pd.DataFrame, parts: pd.DataFrame) -> tuple[float, float]:
    """What a neighbour costs one core in a pass (ns), and neighbours and passes of all particles; 15 thousand of them.

    Density and forces are the passes; from `time_table` and `parts_table`.
    """
    row = times[(times["way"] == ONE_CORE) & (times["thousands"] == PARTS_OF)].iloc[0]
    ms = parts[parts["way"] == ONE_CORE].groupby("part")["ms"].median()
    pairs = row["particles"] * row["neighbours"] * row["passes"]
    return 1e6 * (ms["density"] + ms["forces"]) / pairs, pairs


def sorting_cost(parts: pd.DataFrame) -> tuple[float, float, float]:
    """Of a GPU's `parts_table`, in ms: the sort of the paper's method, its whole step, and the linked list's."""
    gpu = parts[parts["device"] == "cuda"]
    steps = gpu.groupby(["way", "run"])["ms"].sum().groupby("way").median()
    sort = gpu[(gpu["way"] == PAPER) & gpu["part"].str.startswith("sort by")].groupby("run")["ms"].sum()
    return sort.median(), steps[PAPER], steps[GPU_LIST]


def production_table(columns, device, record=None, *, seconds: float = 0.2) -> pd.DataFrame:
    """The fast search with many particles, for columns of so many particles along each axis."""
    named = {f"{'x'.join(map(str, column))}, {SORTED_CELLS}": large_system(column) for column in columns}
    return _measured([(name, system, SORTED_CELLS, device) for name, system in named.items()], record, seconds)


def other_codes(data: Path) -> pd.DataFrame:
    """Milliseconds of a step of other codes with the fluid of `pysph_system`, from the folder data/."""
    return pd.read_csv(data / "reference" / "sph_speeds.csv", comment="#")


def pysph_table(device, record=None, *, seconds: float = 0.2) -> pd.DataFrame:
    """The fast search with PySPH's fluid, on all cores and on a GPU."""
    devices = [select("threads")] + [device] * (device.name == "cuda")
    return _measured([("PySPH's fluid", pysph_system(), SORTED_CELLS, on) for on in devices], record, seconds)


def claim_values(table: pd.DataFrame, parts: pd.DataFrame) -> dict[str, dict]:
    """Keywords of `Record.measure` for the claims that a run can test, by id.

    From `time_table` and `parts_table` (of 15 thousand particles). What the paper ran on a GPU counts only on a GPU,
    and speedups and the order of all programs need all its sizes.
    """
    counted = table[(table["device"] == "cuda") | table["way"].isin([FOUR_THREADS, ONE_CORE])]
    sizes, values = list(COLUMNS), {}
    for row in counted[counted["way"].isin(_TABLE_1)].to_dict("records"):
        note = f"{row['particles']} of fluid with {row['neighbours']:.0f} neighbours on average, {row['ghosts']} ghosts"
        values[_TABLE_1[row["way"]][sizes.index(row["thousands"])]] = {"measured": row["ms"], "note": note}
    for way, times in group_times(parts).iterrows():
        values |= {name: {"measured": times[group]} for name, group in zip(_TABLE_2[way], GROUPS, strict=True)}
    paper = counted[counted["way"] == PAPER]
    if set(paper["thousands"]) == set(sizes):
        for name, way in ((OVER_THREADS, FOUR_THREADS), (OVER_CORE, ONE_CORE)):
            least = paper.loc[paper[f"over {way}"].idxmin()]
            values[name] = {"measured": least[f"over {way}"], "baseline": _baseline(least, table, way)}
        named = counted[counted["way"].isin(_TABLE_1)].assign(case=counted["thousands"].map("{}000 particles".format))
        values[ORDER] = {"measured": _times(named)}
    if GPU_LIST in set(parts["way"]):
        pair = parts[parts["way"].isin([PAPER, GPU_LIST])].groupby(["group", "way", "run"])["ms"].sum()
        for name, group in ((LIST_ORDER, NEIGHBOUR_LIST), (FORCE_ORDER, FORCE)):
            values[name] = {"measured": {way: pair[group][way].tolist() for way in (PAPER, GPU_LIST)}}
    # four threads on fewer cores are not the paper's program
    lacking = () if on_threads(4).workers == 4 else (*_TABLE_1[FOUR_THREADS], OVER_THREADS, ORDER)
    return {name: value for name, value in values.items() if name not in lacking}


def _times(table: pd.DataFrame) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of a step in each run, by case and way."""
    found = {}
    for case, way, runs in zip(table["case"], table["way"], table["runs"], strict=True):
        found.setdefault(case, {})[way] = [1e3 * seconds for seconds in runs]
    return found


def _baseline(row, table: pd.DataFrame, way: str) -> str:
    base = table[(table["way"] == way) & (table["thousands"] == row["thousands"])].iloc[0]
    return f"linked list, {base['hardware']}: {base['ms']:.3g} ms a step with {row['thousands']} thousand particles"


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that a reader compares."""
    columns = ["thousands", "way", "device", "strategy", "particles", "ghosts", "ratio", "neighbours", "passes"]
    columns = [name for name in [*columns, "passes of ghosts", "ms", "spread", "million/s"] if name in table]
    return table[columns + [name for name in table if name.startswith("over ")]]
