"""Speed of two fluids: tables over grids and structures, what a step consists of, the loss against one fluid; claims.

Porous paper, section 6.4.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from repro.errors import require_whole
from repro.lbm.benchmark import INCLUDES
from repro.lbm.media import PoreSpace, random_blocks, random_spheres
from repro.lbm.porous import benchmark as one_fluid
from repro.lbm.two_fluids.benchmark import measure_speed, part_times, resources
from repro.lbm.two_fluids.cases import Mixture
from repro.lbm.two_fluids.forces import links_of
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.strategies import STRATEGIES
from repro.papers import speed as speeds
from repro.parallel import copy_bandwidth

#: the storage of the paper's program: the differences from chapter 5's sparse one that section 6.4(1) lists are others
PAPER_STRATEGY = "sparse"

#: claims that take a GPU and the paper's boxes, and all of the notebook
ON_GPU = tuple(f"porous-{number:03d}" for number in (90, 91, 92, 94, 95, 97, 100, 139, 140, 143))
SLOWER, DENSITIES, BEST, LOSS = "porous-097", "porous-090", "porous-095", "porous-139"
CLAIMS = ("porous-098", *ON_GPU)

NO_SOLID, SPHERES, BLOCKS = "no solid", "random spheres", "random blocks"

#: names of figure 6.12
STRUCTURES = {"Simple": NO_SOLID, "Medium": SPHERES, "Complex": BLOCKS}

#: columns of a `speed_table` that a reader compares, and of the baselines
SHOWN = ["strategy", "space", "block", "mlups", "mflups", "spread", "roof"]
RUNG_COLUMNS = ["baseline", "strategy", "hardware", "size", "mflups", "spread", "roof"]

_ITEMSIZE = 4


def paper_points(data: Path, figure: str) -> pd.DataFrame:
    """The paper's speeds of figure "6.10a" or "6.10b", columns side and mlups, or "6.12", medium and mlups."""
    points = pd.read_csv(data / "published" / "porous_figures.csv", comment="#")
    chosen = points[points["figure"].str.startswith(f"{figure} ")]
    names = chosen["x"].map(STRUCTURES) if figure == "6.12" else chosen["x"].str.split("^").str[0].astype(int)
    column = "medium" if figure == "6.12" else "side"
    return pd.DataFrame({column: names, "mlups": chosen["y"].astype(float)}).reset_index(drop=True)


def mixture(space: PoreSpace) -> TwoFluids:
    """The problem that is timed: section 6.3's mixture, without its force, which in an open box would push for ever."""
    return Mixture(space, acceleration=0.0).problem


def open_box(side: int, dimensions: int) -> PoreSpace:
    """A layer of nodes (figure 6.10a), of two `dimensions`, or a cube (figure 6.10b), of three; without solid."""
    require_whole("nodes along a side", side, 4, 2 ** (36 // dimensions))
    return PoreSpace(np.zeros((1,) * (3 - dimensions) + (side,) * dimensions, bool))


def name_of(side: int, dimensions: int) -> str:
    """Name of an `open_box`, such as 64² or 64³."""
    return f"{side}{'²' if dimensions == 2 else '³'}"


def structures(nodes, porosity: float, diameter: float, edge: int, seed: int) -> dict[str, PoreSpace]:
    """The three flow fields of figure 6.11 on (nx, ny, nz) nodes: open, with random spheres, with random blocks."""
    shape = tuple(nodes[::-1])
    return {
        NO_SOLID: PoreSpace(np.zeros(shape, bool)),
        SPHERES: PoreSpace(random_spheres(shape, porosity, diameter, seed)),
        BLOCKS: PoreSpace(random_blocks(shape, porosity, edge, seed)),
    }


def bytes_table() -> pd.DataFrame:
    """Bytes that each strategy moves for a node in single precision where there is no solid, by design."""
    rows = []
    for name, cost in ((name, strategy.COST) for name, strategy in STRATEGIES.items()):
        densities, moved = cost.densities_bytes(_ITEMSIZE, 1.0), cost.bytes_per_update(_ITEMSIZE, 1.0)
        rows.append((name, 2 if densities else 1, densities, moved - densities, moved))
    names = ["strategy", "kernels a step", "densities (bytes)", "collision and streaming (bytes)", "step (bytes)"]
    return pd.DataFrame(rows, columns=names)


def block_of(strategy: str, nx: int) -> int:
    """Threads a block: 128, or for rows of the box as many, from 64 on, as leave fewest threads idle."""
    if strategy != "dense":
        return 128
    return min((128, 96, 64), key=lambda block: -(-nx // block) * block)


def speed_table(spaces: dict, strategies, device, record=None, **options) -> pd.DataFrame:
    """`speeds.speed_table` of each strategy in each of the `spaces`, whose names stand in the column "space"."""
    runs = []
    for strategy, (name, space) in product(strategies, spaces.items()):
        chosen = {"strategy": strategy, "block": block_of(strategy, space.shape[0])} | options
        runs.append((f"{strategy}, {name}", mixture(space), device, chosen))
    table = speeds.speed_table(runs, record, measured=measure_speed, includes=INCLUDES)
    table.insert(0, "space", list(spaces) * len(strategies))
    return table


def over_sides(dimensions: int, sides, strategies, device, record=None, **options) -> pd.DataFrame:
    """`speed_table` of an `open_box` over the nodes a side; adds the column "side"."""
    spaces = {name_of(side, dimensions): open_box(side, dimensions) for side in sides}
    table = speed_table(spaces, strategies, device, record, **options)
    return table.assign(side=table["space"].str[:-1].astype(int))


def cpu_baselines(space: PoreSpace, record=None, **options) -> pd.DataFrame:
    """`speed.cpu_ladder` of `dense`."""
    dense = {"strategy": "dense"} | options
    return speeds.cpu_ladder(mixture(space), dense, record, measured=measure_speed, includes=INCLUDES)


def step_parts(timed: pd.DataFrame, space: PoreSpace, device, seconds: float) -> pd.DataFrame:
    """What a step of each strategy moves and does in `space`, single precision; `timed` are its rows of `speed_table`.

    Bytes a pore by design, MFLUPS that the copy bandwidth allows by them, and the share of the pass over the densities
    in the time and, by design, in the bytes.
    """
    rows = []
    for speed in timed.itertuples():
        cost, options = STRATEGIES[speed.strategy].COST, {"strategy": speed.strategy, "block": speed.block}
        parts = part_times(mixture(space), device, seconds=seconds, **options)
        moved = cost.bytes_per_update(_ITEMSIZE, space.porosity)
        row = {"strategy": speed.strategy, "bytes": moved, "allowed": copy_bandwidth(device) / moved / 1e6}
        row |= {"mflups": speed.mflups, "spread (%)": 100 * speed.spread, "roof (%)": 100 * speed.roof}
        row["densities (%)"] = 100 * parts.get("densities", 0.0) / sum(parts.values())
        row["by bytes (%)"] = 100 * cost.densities_bytes(_ITEMSIZE, space.porosity) / moved
        rows.append(row | resources(mixture(space), device, **options))
    return pd.DataFrame(rows)


def losses(cubes: pd.DataFrame, packed: pd.DataFrame, spheres: PoreSpace, device, record=None, **options):
    """MFLUPS of one fluid and of two, both sparse, in the largest of the `cubes` and among spheres.

    One fluid is the program of figure 5.10, two fluids are the rows of `speed_table`; "by bytes" is what the loss would
    be by these alone.
    """
    side, two = cubes["side"].max(), pd.concat([in_paper_way(cubes), in_paper_way(packed)])
    spaces = {name_of(side, 3): open_box(side, 3), SPHERES: spheres}
    chosen = {"strategy": "sparse", "block": 128} | options
    runs = [(f"one fluid, {name}", space, device, chosen) for name, space in spaces.items()]
    one = speeds.speed_table(runs, record, measured=one_fluid.measure_speed, includes=INCLUDES)
    cost = STRATEGIES["sparse"].COST
    both = np.array([cost.bytes_per_update(_ITEMSIZE, space.porosity) for space in spaces.values()])
    table = pd.DataFrame({"space": list(spaces), "one fluid": one["mflups"]})
    table["two fluids"] = two[list(spaces)].to_numpy()
    table["loss (%)"] = 100 * (1 - table["two fluids"] / table["one fluid"])
    table["by bytes (%)"] = 100 * (1 - one["bandwidth"] / one["mflups"] / 1e6 / both)
    table["roof of one (%)"] = 100 * one["roof"]
    return table


def relative(table: pd.DataFrame, rate: str = "mflups") -> pd.DataFrame:
    """Speeds over that without solid, a row a strategy and a column a structure."""
    rates = table.pivot_table(index="strategy", columns="space", values=rate, sort=False)
    return rates.div(rates[NO_SOLID], axis=0)


def sides_table(layers: pd.DataFrame, cubes: pd.DataFrame, published: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The slowest and fastest of the paper's strategy in MLUPS beside those of figure 6.10: a row "layers", "cubes"."""
    here = pd.DataFrame({"layers": in_paper_way(layers, "mlups"), "cubes": in_paper_way(cubes, "mlups")})
    paper = pd.DataFrame({name: table["mlups"] for name, table in published.items()})
    table = {"slowest": here.min(), "slowest in": here.idxmin(), "fastest": here.max(), "fastest in": here.idxmax()}
    table |= {"paper: slowest": paper.min(), "paper: fastest": paper.max()}
    return pd.DataFrame(table, here.columns).rename_axis("boxes").reset_index()


def step_times(table: pd.DataFrame, dimensions: int) -> pd.DataFrame:
    """Microseconds of a step by strategy and nodes a side, from `over_sides`."""
    step = table["side"].astype(float) ** dimensions / table["mlups"]
    return table.assign(step=step).pivot(index="strategy", columns="side", values="step")


def growth_of_small(layers: pd.DataFrame) -> dict:
    """How many times the nodes the second layer has, and the time its step takes: nodes do not rule the smallest."""
    steps = step_times(layers, 2).loc[PAPER_STRATEGY]
    (small, large), (first, second) = steps.index[:2], steps.iloc[:2]
    more, longer = (large / small) ** 2, second / first
    return {"more": more, "longer": longer, "holds": longer < more / 2}


def smallest_steps(layers: pd.DataFrame, cubes: pd.DataFrame) -> pd.DataFrame:
    """Microseconds of a step of each strategy in the smallest layer and cube; the last row has their nodes."""
    flat, deep = step_times(layers, 2).iloc[:, 0], step_times(cubes, 3).iloc[:, 0]
    table = pd.DataFrame({"layer": flat, "cube": deep})
    table.loc["nodes"] = flat.name**2, deep.name**3
    return table.assign(**{"cube / layer": table["cube"] / table["layer"]}).rename_axis("strategy").reset_index()


def relative_table(packed: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Speeds among spheres and blocks over that without solid, per pore and per node; the first row is the paper's."""
    paper = published.set_index("medium")["mlups"]
    rows = {"paper, by either reading": [paper[space] / paper[NO_SOLID] for space in (SPHERES, BLOCKS)] * 2}
    pores, nodes = relative(packed), relative(packed, "mlups")
    rows |= {name: [t.loc[name, space] for t in (pores, nodes) for space in (SPHERES, BLOCKS)] for name in pores.index}
    columns = [f"{space}, per {unit}" for unit in ("pore", "node") for space in ("spheres", "blocks")]
    return pd.DataFrame(rows.values(), rows, columns).rename_axis("over no solid").reset_index()


def readings(packed: pd.DataFrame, claim) -> pd.DataFrame:
    """Loss among blocks (%) of two strategies, per pore (first, judged) and node; within: whether it meets a claim."""
    kept = {"pore": relative(packed)[BLOCKS], "node": relative(packed, "mlups")[BLOCKS]}
    lost = 100 * (1 - pd.DataFrame(kept).reindex([PAPER_STRATEGY, "dense"]).stack().dropna())
    table = lost.rename_axis(["strategy", "per"]).rename("loss (%)").reset_index()
    return table.assign(within=(table["loss (%)"] - claim.bounds()[0]).abs() <= claim.margin())


def one_kernel(parted: pd.DataFrame, other: str) -> dict:
    """The speed of `tiled` over another one in `step_parts`, and what the bytes allow: more, for `Record.say`."""
    rates, moved = parted.set_index("strategy")["mflups"], bytes_table().set_index("strategy")["step (bytes)"]
    by, allowed = rates["tiled"] / rates[other], moved[other] / moved["tiled"]
    return {"by": by, "bytes": allowed, "holds": by < allowed}


def density_numbers(shares: pd.DataFrame, claim) -> dict:
    """The last of `density_shares` and the paper's claim on time, for `Record.say`: bytes do not explain it."""
    share, paper = float(shares.iloc[0, -1]), claim.bounds()[0]
    return {"share": share, "paper": paper, "holds": abs(share - paper) > claim.margin()}


def loss_numbers(lost: pd.DataFrame) -> dict:
    """The loss against one fluid and that of the bytes, for `Record.say`: about the same; from `losses`."""
    loss, by_bytes = lost[["loss (%)", "by bytes (%)"]].iloc[0]
    return {"loss": loss, "by_bytes": by_bytes, "holds": abs(loss - by_bytes) < 5}


def headline(cubes: pd.DataFrame, lost: pd.DataFrame, device, stated: dict) -> str:
    """The best rate of the paper's strategy, and its rate over that of one fluid (`losses`), in a line.

    And the paper's, from its claims, `stated` by id.
    """
    best, here, there = in_paper_way(cubes).max(), lost["loss (%)"].iloc[0], float(stated[LOSS].value)
    ours = f"Two fluids run at {float(f'{best:.3g}'):,g} MFLUPS ({device.description})"
    times = f"{1 - here / 100:.2f} times as fast as one"
    return f"{ours}, {times}; the paper has {stated[BEST].value}, {1 - there / 100:.2f} times"


def density_shares() -> pd.DataFrame:
    """Share of the pass over the densities in the bytes (%), a column for what a card reads from memory.

    With caches 2 densities of a node's neighbours; without, those of all neighbours: of our stencil, of the central
    differences of section 2.4, and of these with the velocities that the paper's first kernel stores, for its second
    one to read.
    """
    cost = STRATEGIES[PAPER_STRATEGY].COST
    first, whole = cost.densities_bytes(_ITEMSIZE, 1.0), cost.bytes_per_update(_ITEMSIZE, 1.0)
    own, paper = (2 * len(links_of(stencil)) for stencil in (TwoFluids.stencil, "central"))

    def share(neighbours: int, stored: int = 0) -> float:
        return 100 * (first + stored * _ITEMSIZE) / (whole + 2 * (neighbours - 1 + stored) * _ITEMSIZE)

    velocities = 2 * 3
    names = ["with caches", "without", "central differences", "and velocities"]
    return pd.DataFrame([(share(1), share(own), share(paper), share(paper, velocities))], columns=names)


def in_paper_way(table: pd.DataFrame, rate: str = "mflups") -> pd.Series:
    """The speeds of the paper's strategy by space."""
    return table[table["strategy"] == PAPER_STRATEGY].set_index("space")[rate]


def gpu_claims(layers, cubes, packed, parted, lost: pd.DataFrame) -> dict:
    """{claim: value} of the paper's strategy, from the tables of this module.

    In the first space the share of the pass over the densities, and what is lost against one fluid, as stated and as
    figure 5.10 shows it; among spheres; the lower median of layers and of cubes, as the paper speaks of what is usual;
    the fastest cube; how much slower a pore is among blocks; the three structures in each independent run; the fastest
    over the slowest layer.
    """
    flat, deep, media = map(in_paper_way, (layers, cubes, packed))
    loss, step = float(lost["loss (%)"].iloc[0]), parted.set_index("strategy").loc[PAPER_STRATEGY]
    sides = in_paper_way(layers, "mlups")
    return {
        "porous-090": float(step["densities (%)"]),
        "porous-091": loss,
        "porous-092": float(media[SPHERES]),
        "porous-094": float(min(flat.median(), deep.median())),
        "porous-095": float(deep.max()),
        "porous-097": float(100 * (1 - media[BLOCKS] / media[NO_SOLID])),
        "porous-139": loss,
        "porous-140": speeds.order(packed[packed["strategy"] == PAPER_STRATEGY], "space", "mflups"),
        "porous-143": float(sides.max() / sides.min()),
    }


def over_baselines(cubes: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """The speedup of the paper's strategy at its best over each rung of `cpu_baselines`."""
    return speeds.over_rungs(in_paper_way(cubes).max(), baselines, "mflups")


def record_gpu_claims(record, layers, cubes, packed, parted, lost, cpu: pd.Series) -> None:
    """Give the notebook's `record` what a GPU tells; `cpu` is MFLUPS by baseline."""
    nodes = ", ".join(f"{rate:,.0f}" for rate in in_paper_way(packed, "mlups"))
    for claim, value in gpu_claims(layers, cubes, packed, parted, lost).items():
        record.measure(claim, value, note=f"per node {nodes} MLUPS" if claim == "porous-140" else "")
    best = in_paper_way(cubes).max()
    record.measure("porous-100", **speeds.speedup_evidence(best, cpu, "two fluids, dense, in rows", "MFLUPS"))
