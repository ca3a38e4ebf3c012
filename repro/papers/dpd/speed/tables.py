"""The tables of the speed notebook: table 4, the channel, what is fast today, and the paper's own numbers."""

from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time

import pandas as pd

from repro.dpd.benchmark import INCLUDES, WARM_UP
from repro.dpd.cases import Bulk, Channel, Poiseuille
from repro.dpd.noise import PAPER_ROUNDS, RUN_ROUNDS
from repro.dpd.simulation import Simulation
from repro.dpd.system import System, in_cell_order
from repro.errors import require_whole
from repro.papers.speed import RUNS, speed_table, speedups
from repro.parallel import part_times, select
from repro.particles.random import ROUNDS

from . import linear

#: domains of table 4: length, width, height
TABLE_4 = ((6, 4, 8), (64, 8, 32), (256, 16, 32), (256, 32, 32))

#: the paper's mappings of particles to threads
MAPPINGS = ("cell", "particle")

#: the ladder over which every speedup is given, by the first of which claims are judged: ours after the paper's text, a
#: linked list and one running sequence of random numbers; one that sorts, with TEA, on one core and on all
BASELINES = SERIAL_PROGRAM, ONE_CORE, ALL_CORES = "serial program, one core", "planes, one core", "planes, all cores"

#: the mapping whose speedup is held against the number of particles, and the orders of particles in memory
JUDGED, BY_CELL, AT_RANDOM = "thread per particle", "by cell", "at random"

#: groups of parts of a step in the figure; parts not named here belong to the lists
_GROUPS = {"drift": "integration", "kick": "integration", "hand back": "hand back"}
_GROUPS |= {"clear": "clear and round off", "round off": "clear and round off"}


def systems(rows) -> list[System]:
    """The systems of the given rows of table 4 (1 to 4), each once."""
    for row in rows:
        require_whole("row of table 4", row, 1, len(TABLE_4))
    return [Poiseuille(*TABLE_4[row - 1]).system() for row in dict.fromkeys(rows)]


@cache
def particle_counts() -> tuple[int, ...]:
    """Numbers of particles of table 4's systems, counted."""
    return tuple(system.count for system in systems(range(1, len(TABLE_4) + 1)))


def baselines() -> dict:
    """The programs on a CPU, by name: strategy and device."""
    core = select("serial")
    return {SERIAL_PROGRAM: ("linked", core), ONE_CORE: ("planes", core), ALL_CORES: ("planes", select("threads"))}


def mappings(device) -> dict:
    """The paper's mappings on `device`, and on a GPU two ways beyond it."""
    names = {f"thread per {name}": name for name in MAPPINGS}
    if device.name == "cuda":
        names |= {"thread per particle, full stencil": "particle, full stencil", "sorted cells": "fastest"}
    return {name: (strategy, device) for name, strategy in names.items()}


def paper_table(cases: list[System], device, record=None, *, seconds: float) -> pd.DataFrame:
    """Table 4 in single precision, with speedups; beside a GPU what is judged by its order runs three times."""
    ways = baselines() | mappings(device)
    repeated = {SERIAL_PROGRAM, *(f"thread per {name}" for name in MAPPINGS)} if device.name == "cuda" else ()
    return with_speedups(_measured(cases, ways, record, seconds, repeated))


def programs(device) -> dict:
    """The programs that are timed, with device and options, for `linear.temperatures`."""
    ways = baselines() | {f"{name}, {device.name}": way for name, way in mappings(device).items()}
    rounds = dict.fromkeys(ways, PAPER_ROUNDS) | {SERIAL_PROGRAM: 0}
    return {name: (on, {"strategy": strategy, "rounds": rounds[name]}) for name, (strategy, on) in ways.items()}


def noise_table(row: int, device, record=None, *, seconds: float) -> pd.DataFrame:
    """Thread per particle with linear generators (no rounds) and with TEA, and what TEA costs: "over method one"."""
    way = {JUDGED: ("particle", device)}
    variants = [{"rounds": rounds} for rounds in (0, ROUNDS, RUN_ROUNDS, PAPER_ROUNDS)]
    table = _measured(systems([row]), way, record, seconds, repeated=way, variants=variants)
    return table.assign(**{"over method one": table["seconds"] / table["seconds"].iloc[0]})


def today(rows, precisions, all_rounds, device, record=None, *, seconds: float) -> pd.DataFrame:
    """The fastest way on `device` in the given precisions and rounds of TEA, against the CPU's ways with the same.

    The serial program has no rounds. Of the `rows` of table 4 the CPU runs the first, one of middle size.
    """
    cases, cpu_case, tables = systems(rows), systems(rows[:1]), []
    for precision, rounds in product(precisions, all_rounds):
        variants = [{"precision": precision, "rounds": rounds}]
        slow = _measured(cpu_case, baselines(), record, seconds, variants=variants)
        fast = _measured(cases, {"fastest": ("fastest", device)}, record, seconds, variants=variants)
        tables.append(with_speedups(fast, slow))
    return summary(pd.concat(tables, ignore_index=True))


def channel_table(scale: float, cpu_width: float, device, record=None, *, seconds: float) -> pd.DataFrame:
    """Section 6: the mappings on the channel, and the CPU's ways in a slice of it that is `cpu_width` wide."""
    slow = _measured([channel(scale, cpu_width).system()], baselines(), record, seconds)
    return with_speedups(_measured([channel(scale).system()], mappings(device), record, seconds), slow)


def channel(scale: float, width: float | None = None) -> Channel:
    """The paper's channel with its lengths times `scale`, or a slice of it; three planes frozen unless it is whole."""
    names = ("length", "width", "height", "narrow_length", "gap")
    sides = {name: scale * getattr(Channel, name) for name in names} | ({} if width is None else {"width": width})
    return Channel(**sides, frozen=Channel.frozen if scale == 1 and width is None else None)


def launch_table(row: int, device, record=None, *, seconds: float) -> pd.DataFrame:
    """A thread a particle and the fastest way, as a CUDA graph and one by one, on rows 1 and `row` of table 4."""
    ways = {JUDGED: ("particle", device), "fastest": ("fastest", device)}
    table = _measured(systems([1, row]), ways, record, seconds, variants=[{"graph": True}, {"graph": False}])
    return table[["way", "particles", "launch", "updates", "seconds", "spread"]]


def _measured(
    cases: list[System], ways: dict, record, seconds: float, repeated=(), variants=({},), arranged=BY_CELL
) -> pd.DataFrame:
    runs, named = [], []
    # memory follows space, on the core and on the GPU alike
    ordered = map(in_cell_order, cases) if arranged == BY_CELL else cases
    for variant, system, (way, (strategy, device)) in product(variants, ordered, ways.items()):
        case = f"{way}, {device.name}, {system.name}, {system.count} particles, {arranged}"
        chosen = {"rounds": PAPER_ROUNDS, "seconds": seconds, "strategy": strategy} | variant
        # each run is built anew, and timed so often
        chosen |= {"runs": RUNS, "repeats": 3} if way in repeated else {"runs": 1}
        runs.append((case, system, device, chosen | ({"rounds": 0} if way == SERIAL_PROGRAM else {})))
        named.append(way)
    table = speed_table(runs, record, measured=linear.timed, includes=INCLUDES)
    table.insert(0, "way", named)
    return table


def with_speedups(table: pd.DataFrame, slow: pd.DataFrame | None = None) -> pd.DataFrame:
    """`table` with its speedups over each baseline with as many particles, or that of `slow`; "baseline particles"."""
    counts = table["particles"] if slow is None else int(slow["particles"].iloc[0])
    return speedups(table.assign(**{"baseline particles": counts}), BASELINES, "particles", "updates", slow)


def parts_table(row: int, device) -> pd.DataFrame:
    """Time of each part of a step of the fastest way and the paper's: columns way, part, group, seconds, particles.

    A GPU makes as many steps before as where whole ones are timed: particles set up at random lie less evenly.
    """
    (system,), rows = map(in_cell_order, systems([row])), []
    slow = [(strategy, PAPER_ROUNDS) for strategy in ("fastest", "particle", "cell")]
    for strategy, rounds in (("fastest", ROUNDS), *slow):
        simulation = Simulation(system, device, strategy=strategy, rounds=rounds)
        if device.name == "cuda":
            simulation.advance(WARM_UP)
        for part, seconds in part_times(simulation).items():
            group = "forces" if part.startswith("forces") else _GROUPS.get(part, "lists")
            rows.append((f"{simulation.strategy}, TEA {rounds}", part, group, seconds, system.count))
    return pd.DataFrame(rows, columns=["way", "part", "group", "seconds", "particles"])


def force_shares(parts: pd.DataFrame) -> pd.DataFrame:
    """Columns way, "step (us)" and "forces (%)" of it, from `parts_table`."""
    seconds = parts.pivot_table(index="way", columns="group", values="seconds", aggfunc="sum", sort=False)
    whole = seconds.sum(axis=1)
    return pd.DataFrame({"step (us)": 1e6 * whole, "forces (%)": 100 * seconds["forces"] / whole}).reset_index()


def over_baselines(table: pd.DataFrame) -> pd.DataFrame:
    """The speedups of each way over BASELINES, with the most particles of `paper_table`."""
    return _largest(table)[[f"over {name}" for name in BASELINES]]


def gains(over: pd.DataFrame) -> dict:
    """The speedups of `over_baselines` of the paper's mapping and of the fastest way, for `Record.say`."""
    core, _, cores = over.loc[JUDGED]
    fast = over.loc["sorted cells", f"over {ALL_CORES}"]
    return {"core": core, "cores": cores, "fast": fast, "holds": bool(core > cores and fast > cores)}


def printed_speedup(paper: pd.DataFrame) -> dict:
    """The last speedup of table 4 by its own rates and as printed, which differ; for `Record.say`."""
    rates, printed = paper.iloc[-1][["from rates, particle", "speedup, particle"]]
    return {"rates": rates, "printed": printed, "holds": abs(rates - printed) > 0.1}


def core_rates(table: pd.DataFrame, paper: pd.DataFrame) -> dict:
    """Million updates a second on the largest system of `paper_table`, for `Record.say`: the paper's core and ours."""
    core = paper["one core"].iloc[table["particles"].nunique() - 1] / 1e6
    own = _largest(table).loc[SERIAL_PROGRAM, "updates"] / 1e6
    return {"core": core, "own": own, "holds": core < own}


def headline(table: pd.DataFrame, paper: pd.DataFrame) -> str:
    """What `paper_table` has on its largest system beside the paper: speedups, or the core's rate where no GPU ran."""
    found, stated = _largest(table).loc[JUDGED], paper.iloc[table["particles"].nunique() - 1]
    if found["device"] != "cuda":
        rates = core_rates(table, paper)
        text = "The serial program makes {own:.3g} million updates of particles a second (the paper's: {core:.3g})."
        return text.format_map(rates)
    core, _, cores = found[[f"over {name}" for name in BASELINES]]
    text = f"The GPU's program is {core:.3g} times as fast as the serial one (paper: {stated['speedup, particle']:g})"
    return f"{text}, and {cores:.3g} times as fast as a better one on all cores."


def other_codes(data: Path) -> pd.DataFrame:
    """Rates of other codes, from the folder `data`."""
    return pd.read_csv(data / "reference" / "dpd_speeds.csv", comment="#")


def order_table(table: pd.DataFrame, cases: list[System], device, record=None, *, seconds: float) -> pd.DataFrame:
    """The serial program on the core and the mapping that is judged, in both orders of the particles in memory.

    In that of the cells they are those of `paper_table`, at random they run here. Speedups are of one order.
    """
    ways = {SERIAL_PROGRAM: baselines()[SERIAL_PROGRAM], JUDGED: mappings(device)[JUDGED]}
    at_random = _measured(cases, ways, record, seconds, ways, arranged=AT_RANDOM)
    both = {BY_CELL: table[table["way"].isin(ways)], AT_RANDOM: at_random}
    rows = [speedups(each, (SERIAL_PROGRAM,), "particles", "updates").assign(order=name) for name, each in both.items()]
    names = ["order", "particles", "way", "updates", "seconds", "spread", "runs", f"over {SERIAL_PROGRAM}"]
    return pd.concat(rows, ignore_index=True)[names]


def kept(orders: pd.DataFrame) -> dict:
    """What is left at random of the rate on the system before the largest of `order_table`, for `Record.say`."""
    rates = orders[orders["order"] == AT_RANDOM].pivot_table(index="way", columns="particles", values="updates")
    core, gpu = (rates.iloc[:, -1] / rates.iloc[:, -2])[[SERIAL_PROGRAM, JUDGED]]
    return {"core": core, "gpu": gpu, "holds": bool(max(core, gpu) < 1)}


def over_plain_c(peers: Path, box, steps: int) -> pd.DataFrame:
    """The serial program's rate over that of plain C on the same box, by the CPU's time; no row without a compiler.

    `peers` is the folder of the C program. In turns, the best of five each, so that the machine disturbs both alike.
    """
    system = in_cell_order(Bulk(tuple(map(float, box))).system())
    simulation = Simulation(system, select("serial"), strategy="linked", rounds=0)
    simulation.step(steps // 2)
    ours, theirs = [], []
    for _ in range(5):
        with TemporaryDirectory() as folder:
            theirs.append(linear.plain_c(peers / "dpd_serial.c", Path(folder), box, steps))
        if theirs[0] is None:
            return pd.DataFrame(columns=["ours", "plain C"])
        start = thread_time()
        simulation.step(steps // 2)
        ours.append(system.count * (steps // 2) / (thread_time() - start))
    own, other = max(ours), max(run["updates"] for run in theirs)
    rates = {"ours": own / 1e6, "plain C": other / 1e6, "ratio": own / other}
    return pd.DataFrame([rates | {"its kT": theirs[0]["kT"]}])


def _largest(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["particles"] == table["particles"].max()].set_index("way")


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that a reader compares, rounded: particles, way, millions of updates a second, speedups."""
    short = table.assign(**{"million/s": table["updates"] / 1e6})
    short = short[["particles", "way", "device", "precision", "rounds", "million/s", "spread"]]
    return short.round({"million/s": 3, "spread": 3}).join(table.filter(regex="^over ").round(2))
