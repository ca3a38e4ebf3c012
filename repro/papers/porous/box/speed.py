"""Speed of the strategies in the cavity and the duct: cases, tables, claims, and the time loop as a user sees it."""

import numpy as np
import pandas as pd

from repro.lbm.benchmark import INCLUDES, check_strategy, measure_speed, size_of, uniform_flow
from repro.lbm.cases import Cavity, Duct
from repro.lbm.model import Problem
from repro.lbm.simulation import Simulation
from repro.papers import speed as speeds
from repro.parallel import GRAPH_STEPS, CpuDevice, host_clock

#: the strategy that the paper chose
PAPER_STRATEGY = "shared memory"

#: the two ways to stream of section 4.1(3)
STREAMING = {"shared": PAPER_STRATEGY, "direct": "push"}

#: claims of the notebooks on the cavity and on the duct
CAVITY_CLAIMS = [f"porous-{number:03d}" for number in (*range(32, 35), *range(103, 106), *range(112, 115), 167, 168)]
DUCT_CLAIMS = [f"porous-{number:03d}" for number in (37, 38, 39, 106, 107, 108, 109, 153)]

#: of each case, the claims on its highest speed and on the speedup
BEST_CLAIMS = {"cavity": ("porous-032", "porous-034"), "duct": ("porous-039", "porous-038")}

#: columns that a reader compares of a `speed_table` over blocks, of one of strategies, and of the baselines
SHOWN = ["strategy", "size", "block", "mlups", "spread", "roof"]
COMPARED = ["strategy", "layout", "precision", "size", "mlups", "roof", "check"]
RUNG_COLUMNS = ["baseline", "hardware", "size", "mlups", "spread", "roof"]

#: claims on the fastest block size of the duct, and the nodes across of each
WINNER_CLAIMS = {"porous-106": 64, "porous-107": 128, "porous-108": 256}

#: claims on rows of a power of two by device, and threads that a GPU runs at once
DIMENSION_CLAIMS, WARP = {"threads": "porous-167", "cuda": "porous-168"}, 32


def speed_table(runs, record=None) -> pd.DataFrame:
    """Measure a list of (case, problem, device, options); see `speeds.speed_table`."""
    return speeds.speed_table(runs, record, measured=measure_speed, includes=INCLUDES)


def paper_way(device) -> str:
    """The strategy that stands for the paper's: through shared memory on a GPU, `pull` elsewhere."""
    return PAPER_STRATEGY if device.name == "cuda" else "pull"


def cavity_problem(side: int, block: int | None = None) -> Problem:
    """The cavity that is timed, whatever the block; the Reynolds number grows with the grid, so that tau stays."""
    return Cavity(reynolds=400.0 * side / 256, nodes=side).problem


def duct_problem(nodes: int, length: int) -> Problem:
    """The duct that is timed, along x, where one block of threads handles a row."""
    return Duct(nodes=nodes, length=length, axis="x").problem


def case(strategy: str, problem: Problem, device, block: int = 128, **options) -> tuple:
    """One entry of the list that `speed_table` measures, named by its strategy."""
    return strategy, problem, device, {"strategy": strategy, "block": block} | options


def block_cases(problem_of, grids, blocks, device, names=(PAPER_STRATEGY, "pull"), **options) -> list[tuple]:
    """The paper's strategy and `pull`, or other `names`, on each grid with each block size (figures 4.4 and 4.7).

    problem_of(nodes, block) is the cavity, or the duct as long as a block. On a CPU, which has no blocks, `pull` alone
    in one case a grid.
    """
    names, blocks = (names, blocks) if device.name == "cuda" else (["pull"], blocks[:1])
    sizes = [(nodes, block) for nodes in grids for block in blocks]
    return [case(name, problem_of(*size), device, size[1], **options) for name in names for size in sizes]


def streaming_cases(problem_of, nodes: int, blocks, device, **options) -> list[tuple]:
    """The ways of STREAMING with each block size, so that each has its best one, as `block_cases`; none on a CPU."""
    names = list(STREAMING.values())
    return block_cases(problem_of, [nodes], blocks, device, names, **options) if device.name == "cuda" else []


def cavity_variants(side: int, device, **options) -> list[tuple]:
    """Each strategy on one grid, `pull` as array of structures and in double precision; on a CPU the first two."""
    cases = _variants(cavity_problem(side), device, options, {"layout": "aos"}, {"precision": "double"})
    return cases if device.name == "cuda" else cases[:2]


def duct_variants(nodes: int, device, **options) -> list[tuple]:
    """Each strategy in one duct of 128 nodes, and `pull` in double precision; on a CPU the first alone."""
    cases = _variants(duct_problem(nodes, 128), device, options, {"precision": "double"})
    return cases if device.name == "cuda" else cases[:1]


def _variants(problem: Problem, device, options: dict, *changes: dict) -> list[tuple]:
    cases = [case(name, problem, device, **options) for name in ("pull", "push", "split", PAPER_STRATEGY)]
    return cases + [case("pull", problem, device, **options | change) for change in changes]


def first_dimensions(side: int, device, **options) -> list[tuple]:
    """`pull` in cavities of `side`, a power of two, and of a warp more nodes, on one core and on a GPU."""
    devices = [CpuDevice("threads", workers=1), *([device] if device.name == "cuda" else [])]
    return [case("pull", cavity_problem(n), where, **options) for where in devices for n in (side, side + WARP)]


def dimension_claims(table: pd.DataFrame) -> dict:
    """{claim: order} of rows of a power of two (section 4.1), of the devices with three runs of `first_dimensions`."""
    lengths = table["size"].str.split().str[0].astype(int)
    named = table.assign(row=np.where(lengths & (lengths - 1), "other", "power of two"))
    tested = named[named["runs"].map(len) >= 3].groupby("device")
    found = {DIMENSION_CLAIMS[device]: rows for device, rows in tested if rows["row"].nunique() == 2}
    return {claim: speeds.order(rows, "row", "mlups") for claim, rows in found.items()}


def streaming_evidence(table: pd.DataFrame) -> dict:
    """Keywords of `Record.measure` for shared memory against direct writes, each at its best block."""
    best = {name: table.loc[table.loc[table["strategy"] == way, "mlups"].idxmax()] for name, way in STREAMING.items()}
    blocks = ", ".join(f"{name} {row['block']}" for name, row in best.items())
    rates = {name: speeds.rate_of_runs(row, "mlups") for name, row in best.items()}
    return {"measured": rates, "note": f"threads a block: {blocks}"}


def streaming_ratio(table: pd.DataFrame) -> float:
    """Speed through shared memory over that of direct writes, each at its best block."""
    best = table.groupby("strategy")["mlups"].max()
    return float(best[STREAMING["shared"]] / best[STREAMING["direct"]])


def duct_table(runs, record=None) -> pd.DataFrame:
    """`speed_table` of ducts with the column NY, their nodes across."""
    table = speed_table(runs, record)
    return table.assign(NY=table["size"].str.split().str[-1].astype(int))


def block_claims(table: pd.DataFrame) -> dict:
    """{claim: order} of figure 4.4, from the paper's way on square grids: over the blocks on each grid, the grids with
    blocks of 128, and the blocks on the largest grid."""
    sides = table.assign(side=table["size"].str.split().str[0])
    largest = sides[sides["side"] == sides["side"].iloc[-1]]
    return {
        "porous-103": speeds.orders(sides, "side", "block", "mlups"),
        "porous-104": speeds.order(sides[sides["block"] == 128], "side", "mlups"),
        "porous-105": speeds.order(largest, "block", "mlups"),
    }


def strategy_claims(table: pd.DataFrame, precision: str) -> dict:
    """{claim: order} of the layouts and the strategies in one precision, from `cavity_variants`."""
    rows = table.set_index(["strategy", "layout", "precision"])
    names = {"SoA": ("pull", "soa"), "AoS": ("pull", "aos"), "fused": ("push", "soa"), "separate": ("split", "soa")}
    rates = {name: speeds.rate_of_runs(rows.loc[(*key, precision)], "mlups") for name, key in names.items()}
    pairs = {"porous-112": ("SoA", "AoS"), "porous-113": ("fused", "separate")}
    return {claim: {name: rates[name] for name in pair} for claim, pair in pairs.items()}


def duct_claims(table: pd.DataFrame) -> dict:
    """{claim: order} of figure 4.7, from the paper's way: the grids with blocks of 64, the blocks on each grid."""
    winners = {claim: table[table["NY"] == nodes] for claim, nodes in WINNER_CLAIMS.items()}
    best = {claim: speeds.order(rows, "block", "mlups") for claim, rows in winners.items() if len(rows)}
    return {"porous-109": speeds.order(table[table["block"] == 64], "NY", "mlups"), **best}


def cpu_baselines(case: str, problem: Problem, record=None, **options) -> pd.DataFrame:
    """`speed.cpu_ladder` of `pull`."""
    return speeds.cpu_ladder(problem, options, record, prefix=f"{case}: ", measured=measure_speed, includes=INCLUDES)


def fastest(table: pd.DataFrame, cpu: pd.Series) -> pd.DataFrame:
    """The fastest run of a `speed_table`, the same strategy on the largest grid, and the fastest of the paper's.

    Columns strategy, size, MB (of both arrays of populations), mlups, roof, and the speedup over each baseline; `cpu`
    is MLUPS by baseline.
    """
    best = table["mlups"].idxmax()
    largest = table.loc[table["strategy"] == table.loc[best, "strategy"], "seconds"].idxmax()
    own = table.loc[table["strategy"] == PAPER_STRATEGY, "mlups"]
    rows = table.loc[list(dict.fromkeys([best, largest, *([] if own.empty else [own.idxmax()])]))]
    rows = rows.assign(MB=rows["bandwidth"] * rows["seconds"] / 1e6)[["strategy", "size", "MB", "mlups", "roof"]]
    return rows.assign(**{f"over {name}": rows["mlups"] / rate for name, rate in cpu.items()}).reset_index(drop=True)


def headline(case: str, top: float, cpu: pd.Series, device, verdicts: pd.DataFrame) -> str:
    """`speeds.headline` of the cavity or the duct; `cpu` is MLUPS by baseline, `verdicts` has the paper's numbers."""
    paper = tuple(verdicts.set_index("id")["paper"][list(BEST_CLAIMS[case])])
    return speeds.headline(f"The {case}", top, "MLUPS", cpu["rows"], device, paper)


def rung_numbers(cpu: pd.Series) -> dict:
    """How many times as fast as node by node rows are, on one core and on all; holds if each rung is faster."""
    rows, cores = cpu[["rows", "rows, all cores"]] / cpu["node by node"]
    return {"rows": rows, "cores": cores, "holds": 1 < rows < cores}


def share_numbers(rows: pd.DataFrame) -> dict:
    """What the paper's strategy reaches of the best in %, from `fastest`; holds if that is another."""
    share = 100 * rows.loc[rows["strategy"] == PAPER_STRATEGY, "mlups"].max() / rows["mlups"].iloc[0]
    return {"share": share, "holds": share < 100}


def roof_numbers(rows: pd.DataFrame) -> dict:
    """The share of the copy bandwidth of the best of `fastest` in %; holds if it is more than memory allows."""
    roof = 100 * rows["roof"].iloc[0]
    return {"roof": roof, "holds": roof > 100}


def peak_note(table: pd.DataFrame, cpu: pd.Series) -> str:
    """Whose speed the paper's is compared with, and beside it the highest of all, on which grid."""
    best = fastest(table, cpu).iloc[0]
    where = f"{best['strategy']} on {best['size']}, {best['MB']:.0f} MB"
    return f"{PAPER_STRATEGY}; the fastest, {where}, makes {best['mlups']:,.0f}"


def time_loop_speed(problem: Problem, device, *, steps: int, precision: str = "single") -> dict:
    """A row for `Record.timing`: wall clock around `step(steps)` from Python, checks for divergence included."""
    check = check_strategy(problem, device, strategy="pull", precision=precision, layout="soa", block=128)
    simulation = Simulation(problem, device, precision=precision)
    simulation.set_populations(uniform_flow(problem.model.lattice))
    simulation.step(2 * GRAPH_STEPS + 2)
    seconds = host_clock(lambda: simulation.step(steps), device)
    includes = f"wall clock around one call of {steps} steps from Python, looks for NaN included"
    about = {"device": device.name, "precision": precision, "size": size_of(problem.shape), "check": check}
    speed = {"mlups": problem.nodes * steps / seconds / 1e6, "seconds": seconds / steps}
    return {"case": "time loop from Python", "includes": includes} | speed | about
