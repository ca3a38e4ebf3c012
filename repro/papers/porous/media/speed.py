"""Speed and memory of the strategies for porous media: tables over porosities, packings and block sizes; claims."""

import numpy as np
import pandas as pd

from repro.lbm.benchmark import INCLUDES
from repro.lbm.lattice import D3Q19
from repro.lbm.media import PoreSpace, random_blocks, random_spheres
from repro.lbm.porous.benchmark import measure_speed
from repro.lbm.porous.neighbour_list import list_neighbours
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.lbm.porous.strategies import STRATEGIES
from repro.papers import timings
from repro.parallel import CpuDevice, copy_bandwidth, measure, select, wall_clock

#: the strategies that store all nodes of the box
FULL_STORAGE = ("flag word", "branches")


def speed_table(runs, record=None) -> pd.DataFrame:
    """Measure a list of (case, space, device, options); one row a speed, with `roof`, the share of copy bandwidth.

    Every speed is handed to the notebook's `record`.
    """
    return timings.speed_table(runs, record, measured=measure_speed, includes=INCLUDES)


def compared(device) -> list[str]:
    """The strategies that are compared: all on a GPU, the lists of fluid nodes elsewhere."""
    on_gpu = device.name == "cuda"
    return ["flag word", "sparse", "sparse in place", "branches"] if on_gpu else ["sparse", "sparse in place"]


def porosity_claims(table: pd.DataFrame) -> dict:
    """{claim: value} of figures 5.10a and 5.10b, from `over_porosity`: the largest speeds, the order at each porosity,
    fall and rise."""
    speeds = table.pivot_table(index="porosity", columns="strategy", values="mflups")
    sparse, flag_word = speeds["sparse"], speeds["flag word"]
    algorithms = {"sparse": "algorithm two", "flag word": "algorithm one"}
    both = table[table["strategy"].isin(list(algorithms))]
    both = both.assign(algorithm=both["strategy"].map(algorithms), porosity=both["porosity"].round(3))
    return {
        "porous-062": float(sparse.max()),
        "porous-063": float(table.loc[table["strategy"] == "sparse", "mlups"].max()),
        "porous-120": timings.orders(both, "porosity", "algorithm", "mflups"),
        "porous-121": float(sparse.min() / sparse.max()),
        "porous-122": float(flag_word.iloc[0] / flag_word.iloc[-1]),
    }


def variant_claims(table: pd.DataFrame, blocks: pd.DataFrame) -> dict:
    """{claim: value} of figures 5.11 to 5.13, from `flag_word_variants` and `over_blocks`."""
    rounded = blocks.assign(porosity=blocks["porosity"].round(3))
    return {
        "porous-057": float(table["drop"].max()),
        "porous-058": float(table["share"].max()),
        "porous-061": timings.orders(rounded, "porosity", "block", "mlups"),
    }


def cpu_baselines(space: PoreSpace, record=None, **options) -> pd.DataFrame:
    """The CPU baselines as `speed_table` has them, indexed by name.

    The sparse list node by node, in rows on one core and in rows on all cores; and both programs that store all nodes,
    in rows on one core, each three times, since others may use the cores; and these node by node, once.
    """
    serial, rows = select("serial"), CpuDevice("threads", workers=1)
    runs = {
        "node by node": (serial, "sparse", 3),
        "rows": (rows, "sparse", 3),
        "rows, all cores": (select("threads"), "sparse", 3),
    }
    for strategy in FULL_STORAGE:
        # slow, and no claim is about it
        runs |= {f"{strategy}, node by node": (serial, strategy, 1), f"{strategy}, rows": (rows, strategy, 3)}
    table = speed_table(
        [
            (name, space, device, options | {"strategy": strategy, "runs": times})
            for name, (device, strategy, times) in runs.items()
        ],
        record,
    )
    table.index = pd.Index(list(runs), name="baseline")
    return table


def fastest_storages(cpu: pd.Series) -> tuple[str, str]:
    """The fastest sparse and the fastest full storage on one core, by name of the baseline; `cpu` is MFLUPS."""
    full = [name for name in cpu.index if name.startswith(FULL_STORAGE)]
    return cpu[["node by node", "rows"]].idxmax(), cpu[full].idxmax()


def storage_gain(cpu: pd.Series) -> float:
    """How many times as fast as the full storage the sparse one is, both as `fastest_storages`."""
    sparse, full = fastest_storages(cpu)
    return float(cpu[sparse] / cpu[full])


def storage_gains(baselines: pd.DataFrame) -> list[float]:
    """The `storage_gain` of any run of the one of the `fastest_storages` over any run of the other.

    The runs of `cpu_baselines` follow one another, so that none of one belongs to one of the other.
    """
    names = fastest_storages(baselines["mflups"])
    sparse, full = (timings.rate_of_runs(baselines.loc[name], "mflups") for name in names)
    return [a / b for a in sparse for b in full]


def storage_evidence(baselines: pd.DataFrame) -> dict[str, float]:
    """Keywords of `Record.measure` for the `storage_gain` and how far its runs lie apart."""
    gains = storage_gains(baselines)
    return {"measured": storage_gain(baselines["mflups"].astype(float)), "scatter": max(gains) - min(gains)}


def over_porosity(spaces, strategies, device, record=None, **options) -> pd.DataFrame:
    """`speed_table` of each strategy on each image."""
    runs = [
        (f"{strategy}, porosity {space.porosity:.3f}", space, device, {"strategy": strategy} | options)
        for strategy in strategies
        for space in spaces
    ]
    return speed_table(runs, record)


def over_blocks(spaces, device, blocks, record=None, **options) -> pd.DataFrame:
    """`speed_table` of the flag word with MRT in single precision on each image with each block size."""
    tables = [over_porosity(spaces, ["flag word"], device, record, **options, block=block) for block in blocks]
    return pd.concat(tables, ignore_index=True)


def flag_word_variants(spaces, device, by_block: pd.DataFrame, record=None, **options) -> pd.DataFrame:
    """MLUPS of the flag word with MRT in single precision for each block size, with BGK, and in double precision.

    One row an image; columns porosity, the block sizes (from `over_blocks`), "bgk" and "double" (both with the first
    block size), and in per cent "drop", by how much MRT is slower than BGK, and "share", double over single precision.
    """
    first = int(by_block["block"].iloc[0])
    table = pd.DataFrame({"porosity": [space.porosity for space in spaces]})
    for block, rows in by_block.groupby("block", sort=False):
        table[block] = rows["mlups"].to_numpy()
    for name, variant in {"bgk": {"collision": "bgk"}, "double": {"precision": "double"}}.items():
        rows = over_porosity(spaces, ["flag word"], device, record, **options, block=first, **variant)
        table[name] = rows["mlups"]
    table["drop"] = 100 * (1 - table[first] / table["bgk"])
    table["share"] = 100 * table["double"] / table[first]
    return table


def packings(nodes: int, porosities, diameter: float, seed: int) -> dict[str, PoreSpace]:
    """Cubes of random spheres by porosity, without solid nodes, and of small random blocks (figure 6.11)."""
    cube = (nodes,) * 3
    found = {f"spheres, {value}": PoreSpace(random_spheres(cube, value, diameter, seed)) for value in porosities}
    found["no solid"] = PoreSpace(np.zeros(cube, bool))
    found["blocks, 0.7"] = PoreSpace(random_blocks(cube, 0.7, max(2, nodes // 32), seed))
    return found


def packing_table(media: dict[str, PoreSpace], strategies, device, record=None, **options) -> pd.DataFrame:
    """`speed_table` of each strategy on each medium, in blocks of 128 threads (in place 256); adds `medium`."""
    runs, names = [], []
    for medium, space in media.items():
        for strategy in strategies:
            block = 256 if strategy == "sparse in place" else 128
            names.append(medium)
            runs.append((f"{medium}, {strategy}", space, device, {"strategy": strategy, "block": block} | options))
    table = speed_table(runs, record)
    table.insert(0, "medium", names)
    return table


def in_place_steps(media: dict[str, PoreSpace], device, block: int = 256) -> pd.DataFrame:
    """MFLUPS and share of their own roof of even and odd steps of `sparse in place`, with MRT in single precision.

    Even steps touch a fluid node's own places only, odd steps read and write through the map.
    """
    bandwidth, populations, rows = copy_bandwidth(device), 2 * 4 * D3Q19.q, []
    for medium, space in media.items():
        flow = PorousFlow(PorousProblem(space, 0.8, (1e-6, 0.0, 0.0)), device, strategy="sparse in place", block=block)
        flow.step(2)
        for name, step, bytes_moved in zip(
            ("even", "odd"), flow.scheme.steps, (populations, populations + flow.cost.map), strict=True
        ):
            repeated = device.capture(lambda step=step: [step() for _ in range(50)] and None)
            rate = space.pores * 50 / measure(repeated, device).seconds
            rows.append((medium, name, rate / 1e6, bytes_moved, rate * bytes_moved / bandwidth))
    return pd.DataFrame(rows, columns=["medium", "step", "mflups", "bytes", "roof"])


def mapping_time(space: PoreSpace, device) -> float:
    """Seconds to number the fluid nodes and connect them on the device, copying the image there included."""
    problem = PorousProblem(space, 0.8, (0.0, 0.0, 0.0))
    return wall_clock(lambda: list_neighbours(problem, device), device).seconds


def memory_table(space: PoreSpace, device) -> pd.DataFrame:
    """Bytes a node of the box that each strategy keeps, by design and as allocated on the device.

    Columns strategy, precision, bytes, allocated, and the porosity below which a sparse one keeps less than the flag
    word.
    """
    rows = []
    for precision, itemsize in (("single", 4), ("double", 8)):
        dense = STRATEGIES["flag word"].COST
        for name in STRATEGIES:
            flow = PorousFlow(PorousProblem(space, 0.8, (0.0, 0.0, 0.0)), device, strategy=name, precision=precision)
            limit = np.nan if flow.cost.dense else flow.cost.break_even(dense, itemsize)
            allocated = flow.kept_bytes / space.solid.size
            rows.append((name, precision, flow.cost.bytes_per_node(itemsize, space.porosity), allocated, limit))
    return pd.DataFrame(rows, columns=["strategy", "precision", "bytes", "allocated", "saves below porosity"])
