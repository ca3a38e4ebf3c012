"""Speed of the strategies for porous media: tables over porosities, packings and block sizes; claims."""

import itertools

import numpy as np
import pandas as pd
from scipy.stats import gmean

from repro.lbm.benchmark import INCLUDES
from repro.lbm.lattice import D3Q19
from repro.lbm.media import PoreSpace, random_blocks, random_spheres, sphere_crystal
from repro.lbm.porous.benchmark import measure_speed
from repro.lbm.porous.neighbour_list import list_neighbours
from repro.lbm.porous.problem import PorousProblem
from repro.lbm.porous.simulation import PorousFlow
from repro.papers import speed as speeds
from repro.parallel import copy_bandwidth, measure, wall_clock

#: claims of the notebook; the first three need no GPU
CLAIMS = [f"porous-{number:03d}" for number in (41, 54, 123, 57, 58, 61, 62, 63, 64, 120, 121, 122, 151, 152)]

#: columns of a `speed_table` that a reader compares, and of the baselines
SHOWN = ["strategy", "porosity", "mlups", "mflups", "spread", "roof"]
RUNG_COLUMNS = ["baseline", "strategy", "hardware", "porosity", "mflups", "spread", "roof"]

#: the strategies that store all nodes of the box
FULL_STORAGE = ("flag word", "branches")

#: nodes along x that share a sector of 32 bytes of memory, a warp, and the paper's block
SHARED_BY = {"sectors": 8, "warps": 32, "blocks": 64}


def speed_table(runs, record=None) -> pd.DataFrame:
    """Measure a list of (case, space, device, options); see `speeds.speed_table`."""
    return speeds.speed_table(runs, record, measured=measure_speed, includes=INCLUDES)


def compared(device) -> list[str]:
    """The strategies that are compared: all on a GPU, the lists of fluid nodes elsewhere."""
    on_gpu = device.name == "cuda"
    return ["flag word", "sparse", "sparse in place", "branches"] if on_gpu else ["sparse", "sparse in place"]


def porosity_claims(table: pd.DataFrame) -> dict:
    """{claim: value} of figures 5.10a and 5.10b and of section 5.2, from `over_porosity`: the largest speeds, the order
    at each porosity, fall and rise of the flag word."""
    rates = table.pivot_table(index="porosity", columns="strategy", values=["mlups", "mflups"])
    sparse, flag_word, rise = rates["mflups", "sparse"], rates["mflups", "flag word"], rates["mlups", "flag word"]
    algorithm = table["strategy"].map({"sparse": "algorithm two", "flag word": "algorithm one"})
    rounded = table.assign(porosity=table["porosity"].round(3), algorithm=algorithm)
    full = rounded[rounded["strategy"].isin(FULL_STORAGE)]
    return {
        "porous-062": float(sparse.max()),
        "porous-063": float(rates["mlups", "sparse"].max()),
        "porous-120": speeds.orders(rounded.dropna(subset="algorithm"), "porosity", "algorithm", "mflups"),
        "porous-122": float(flag_word.iloc[0] / flag_word.iloc[-1]),
        "porous-151": float(rise.iloc[0] / rise.iloc[-1]),
        "porous-152": speeds.orders(full, "porosity", "strategy", "mflups"),
    }


def variant_claims(table: pd.DataFrame, blocks: pd.DataFrame) -> dict:
    """{claim: value} of figures 5.11 to 5.13, from `flag_word_variants` and `over_blocks`."""
    rounded = blocks.assign(porosity=blocks["porosity"].round(3))
    return {
        "porous-057": float(table["drop"].max()),
        "porous-058": float(table["share"].max()),
        "porous-061": speeds.orders(rounded, "porosity", "block", "mlups"),
    }


def cpu_baselines(space: PoreSpace, record=None, **options) -> pd.DataFrame:
    """The CPU baselines as `speed_table` has them, indexed by name.

    The sparse list node by node, in rows on one core and in rows on all cores; and both programs that store all nodes,
    in rows on one core, each three times, since others may use the cores; and these node by node, once.
    """
    devices, thrice = speeds.cpu_rungs(), {"runs": 3}
    rungs = {name: (space, device, options | {"strategy": "sparse"} | thrice) for name, device in devices.items()}
    for strategy in FULL_STORAGE:
        # node by node it is slow, and no claim is about it
        for name, times in (("node by node", {"runs": 1}), ("rows", thrice)):
            rungs[f"{strategy}, {name}"] = (space, devices[name], options | {"strategy": strategy} | times)
    return speeds.ladder(rungs, record, measured=measure_speed, includes=INCLUDES)


def fastest_storages(cpu: pd.Series) -> tuple[str, str]:
    """The fastest sparse and the fastest full storage on one core, by name of the baseline; `cpu` is MFLUPS."""
    full = [name for name in cpu.index if name.startswith(FULL_STORAGE)]
    return cpu[["node by node", "rows"]].idxmax(), cpu[full].idxmax()


def ratio_of_runs(one: pd.Series, other: pd.Series, rate: str) -> tuple[float, float, float]:
    """Rate of a row of a table over another's: of the medians, and least and most of any run over any of the other."""
    runs = [a / b for a, b in itertools.product(*(speeds.rate_of_runs(row, rate) for row in (one, other)))]
    return float(one[rate] / other[rate]), min(runs), max(runs)


def storage_numbers(baselines: pd.DataFrame) -> dict:
    """How many times as fast as the full storage the sparse one is, both as `fastest_storages`; for `Record.say`."""
    sparse, full = (baselines.loc[name] for name in fastest_storages(baselines["mflups"]))
    gain, least, most = ratio_of_runs(sparse, full, "mflups")
    return {"gain": gain, "least": least, "most": most, "holds": gain > 1}


def record_core_claims(record, baselines: pd.DataFrame) -> None:
    """Give the notebook's `record` what one core tells, from `cpu_baselines`."""
    cpu = baselines["mflups"].astype(float)
    record.measure("porous-054", cpu["rows"], note=speeds.rungs_note(cpu, "MFLUPS"))
    found = storage_numbers(baselines)
    record.measure("porous-123", found["gain"], scatter=found["most"] - found["least"], note=storage_note(cpu))


def storage_note(cpu: pd.Series) -> str:
    """Which programs porous-123 compares; `cpu` is MFLUPS by baseline."""
    (sparse, full), loops = fastest_storages(cpu), cpu["node by node"] / cpu["flag word, node by node"]
    cores = f"list, {sparse} {cpu[sparse]:.3g}; all nodes, {full} {cpu[full]:.3g}"
    return f"MFLUPS on one core: {cores}; list over flag word node by node {loops:.2f}"


def node_by_node_numbers(baselines: pd.DataFrame) -> dict:
    """The list over the other ways to find the solid nodes, as plain loops, for `Record.say`: it gains over both."""
    cpu = baselines["mflups"]
    flag, branches = (float(cpu["node by node"] / cpu[f"{name}, node by node"]) for name in FULL_STORAGE)
    return {"flag": flag, "branches": branches, "holds": min(flag, branches) > 1}


def faster_storage(table: pd.DataFrame) -> pd.DataFrame:
    """Which of the list and the flag word is faster in every run, by porosity: columns porosity, faster and roof (%).

    "faster" is "list", "flag word" or "runs overlap", the roof is the flag word's; from `over_porosity`.
    """
    rows = []
    for porosity, some in table.groupby("porosity"):
        rates = speeds.order(some, "strategy", "mflups")
        sparse, flag = rates["sparse"], rates["flag word"]
        faster = "list" if min(sparse) > max(flag) else "flag word" if min(flag) > max(sparse) else "runs overlap"
        rows.append((porosity, faster, 100 * some.set_index("strategy").loc["flag word", "roof"]))
    return pd.DataFrame(rows, columns=["porosity", "faster", "roof (%)"])


def turning_point(faster: pd.DataFrame) -> dict:
    """The porosity in `faster_storage` from which on the flag word is faster; holds if the list is everywhere below."""
    dense = faster["faster"] == "flag word"
    edge = faster.loc[dense, "porosity"].min()
    below = faster["porosity"] < edge
    turns = bool((dense == ~below).all() and (faster.loc[below, "faster"] == "list").all() and below.any())
    return {"edge": float(edge), "holds": turns}


def bytes_ratio(table: pd.DataFrame) -> dict:
    """Bytes of a fluid node of the list over those of the flag word where little is solid; for `Record.say`."""
    moved = (table["bandwidth"] / table["mflups"]).groupby(table["strategy"]).min()
    ratio = float(moved["sparse"] / moved["flag word"])
    return {"ratio": ratio, "holds": ratio > 1}


def shared_with_pores(solid: np.ndarray, length: int) -> float:
    """Share of the runs of `length` nodes along x, from the beginning of each row, that hold a pore; [z][y][x]."""
    filled = np.pad(solid, ((0, 0), (0, 0), (0, -solid.shape[2] % length)), constant_values=True)
    return float((~filled).reshape(-1, length).any(1).mean())


def waiting_table(spaces, table: pd.DataFrame) -> pd.DataFrame:
    """What could take the time of the flag word: pores, and sectors, warps and blocks that hold one, by porosity.

    Each, and the time of a step where `over_porosity` has it, is over its value at the highest porosity.
    """
    counted = pd.DataFrame({"porosity": [space.porosity for space in spaces]})
    counted["pores"] = counted["porosity"]
    for name, length in SHARED_BY.items():
        counted[name] = [shared_with_pores(space.solid, length) for space in spaces]
    times = table[table["strategy"] == "flag word"].set_index("porosity")["seconds"].rename("time")
    counted = counted.join(times, on="porosity").dropna(axis=1).sort_values("porosity", ascending=False)
    first = counted.iloc[0].where(counted.columns != "porosity", 1.0)
    return counted / first


def waiting_numbers(counted: pd.DataFrame) -> dict:
    """Time, warps and blocks of `waiting_table` at the lowest porosity, for `Record.say`: the time lies between."""
    time, warps, blocks = counted.iloc[-1][["time", "warps", "blocks"]]
    return {"time": time, "warps": warps, "blocks": blocks, "holds": warps < time < blocks}


def gains_in_place(packed: pd.DataFrame, crystals: pd.DataFrame) -> pd.DataFrame:
    """Speed of the list in place over the list in each packing and crystal; `packing_table` and `over_porosity`."""
    tables = [packed, crystals.assign(medium=crystals["porosity"].map("crystal, porosity {:.2f}".format))]
    rates = [t.pivot_table(index="medium", columns="strategy", values="mflups", sort=False) for t in tables]
    gains = pd.concat([rate["sparse in place"] / rate["sparse"] for rate in rates])
    return gains.rename("in place / list").rename_axis("medium").reset_index()


def over_baselines(table: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """The speedup of the list at its best in `over_porosity` over each rung of `cpu_baselines`."""
    best = table.loc[table["strategy"] == "sparse", "mflups"].max()
    return speeds.over_rungs(best, baselines, "mflups")


def headline(table: pd.DataFrame, baselines: pd.DataFrame, device, verdicts: pd.DataFrame) -> str:
    """`speeds.headline` of the list at its best in `over_porosity`; `verdicts` has the paper's numbers."""
    best = table.loc[table["strategy"] == "sparse", "mflups"].max()
    paper = tuple(verdicts.set_index("id")["paper"][["porous-062", "porous-064"]])
    return speeds.headline("Flow on a list of pores", best, "MFLUPS", baselines["mflups"]["rows"], device, paper)


def over_porosity(spaces, strategies, device, record=None, **options) -> pd.DataFrame:
    """`speed_table` of each strategy on each image."""
    runs = [
        (f"{strategy}, porosity {space.porosity:.3f}", space, device, {"strategy": strategy} | options)
        for strategy, space in itertools.product(strategies, spaces)
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
    Their ends "least" and "most" are those of any run of the one over any run of the other.
    """
    first = int(by_block["block"].iloc[0])
    timed = dict(list(by_block.groupby("block", sort=False)))
    for name, variant in {"bgk": {"collision": "bgk"}, "double": {"precision": "double"}}.items():
        timed[name] = over_blocks(spaces, device, [first], record, **options, **variant)
    rates = {name: rows["mlups"].to_numpy() for name, rows in timed.items()}
    table = pd.DataFrame({"porosity": [space.porosity for space in spaces]} | rates)
    drop, share = ratios_of_runs(timed[first], timed["bgk"]), ratios_of_runs(timed["double"], timed[first])
    # the slower MRT is, the more is lost
    table[["drop", "drop most", "drop least"]] = 100 * (1 - drop)
    table[["share", "share least", "share most"]] = 100 * share
    return table


def ratios_of_runs(table: pd.DataFrame, other: pd.DataFrame) -> np.ndarray:
    """`ratio_of_runs` of MLUPS of two tables, row by row."""
    pairs = zip(table.iterrows(), other.iterrows(), strict=True)
    return np.array([ratio_of_runs(one, two, "mlups") for (_, one), (_, two) in pairs])


def record_flag_word(record, spaces, device, blocks, **options) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give the notebook's `record` the tables `flag_word_variants` and `over_blocks` of some images; both."""
    by_block = record.table("blocks of the flag word", over_blocks(spaces, device, blocks, record, **options))
    variants = flag_word_variants(spaces, device, by_block, record, **options)
    record.table("variants of the flag word (MLUPS)", variants.rename(columns=str))
    return variants, by_block


def double_share(variants: pd.DataFrame) -> dict:
    """The least share of double precision in `flag_word_variants`, for `Record.say`: more than its bytes leave."""
    least = variants["share"].min()
    return {"least": least, "holds": least > 50}


def crystals(nodes: int, chis) -> list[PoreSpace]:
    """Body-centred spheres in cells of so many nodes, one a chi."""
    return [PoreSpace(sphere_crystal(nodes, chi)) for chi in chis]


def packings(nodes: int, porosities, diameter: float, seed: int) -> dict[str, PoreSpace]:
    """Cubes of random spheres by porosity, without solid nodes, and of small random blocks (figure 6.11)."""
    cube = (nodes,) * 3
    media = {f"spheres, {value}": PoreSpace(random_spheres(cube, value, diameter, seed)) for value in porosities}
    media["no solid"] = PoreSpace(np.zeros(cube, bool))
    media["blocks, 0.7"] = PoreSpace(random_blocks(cube, 0.7, max(2, nodes // 32), seed))
    return media


def _packed(strategy: str) -> dict:
    """With how many threads a block a strategy runs in packings."""
    return {"strategy": strategy, "block": 256 if strategy == "sparse in place" else 128}


def packing_table(media: dict[str, PoreSpace], strategies, device, record=None, **options) -> pd.DataFrame:
    """`speed_table` of each strategy on each medium, in blocks of 128 threads (in place 256); adds `medium`."""
    runs, pairs = [], list(itertools.product(media, strategies))
    for medium, strategy in pairs:
        chosen = _packed(strategy) | options
        runs.append((f"{medium}, {strategy}", media[medium], device, chosen))
    table = speed_table(runs, record)
    table.insert(0, "medium", [medium for medium, _ in pairs])
    return table


def in_place_steps(media: dict[str, PoreSpace], device) -> pd.DataFrame:
    """MFLUPS and share of their own roof of even and odd steps of `sparse in place`, with MRT in single precision.

    Even steps touch a fluid node's own places only, odd steps read and write through the map.
    """
    bandwidth, populations, rows = copy_bandwidth(device), 2 * 4 * D3Q19.q, []
    for medium, space in media.items():
        problem = PorousProblem(space, 0.8, (1e-6, 0.0, 0.0))
        flow = PorousFlow(problem, device, **_packed("sparse in place"))
        flow.step(2)
        for (name, read), step in zip({"even": 0, "odd": flow.cost.map}.items(), flow.scheme.steps, strict=True):
            repeated, moved = device.capture(lambda step=step: [step() for _ in range(50)] and None), populations + read
            rate = space.pores * 50 / measure(repeated, device).seconds
            rows.append((medium, name, rate / 1e6, moved, rate * moved / bandwidth))
    return pd.DataFrame(rows, columns=["medium", "step", "mflups", "bytes", "roof"])


def mapping_time(media: dict[str, PoreSpace], device) -> dict:
    """Nanoseconds to copy, number and connect a fluid node of the first medium on the device, for `Record.say`."""
    problem = PorousProblem(next(iter(media.values())), 0.8, (0.0, 0.0, 0.0))
    ns = 1e9 * wall_clock(lambda: list_neighbours(problem, device), device).seconds / problem.fluid_nodes
    return {"ns": ns, "holds": ns < 1e4}


def flatness(mrt: pd.DataFrame, bgk: pd.DataFrame) -> dict:
    """The slowest over the fastest rate of the list over the porosity: the smaller of MRT and BGK, and a note of both.

    From `over_porosity` with either collision; the thesis does not say which its figure 5.10 has.
    """
    rates = {"MRT": mrt, "BGK": bgk}
    rates = {name: table.loc[table["strategy"] == "sparse", "mflups"] for name, table in rates.items()}
    shares = {name: float(rate.min() / rate.max()) for name, rate in rates.items()}
    return {"measured": min(shares.values()), "note": ", ".join(f"{name}: {s:.3f}" for name, s in shares.items())}


def record_gpu_claims(record, table, bgk, variants, by_block, baselines: pd.DataFrame) -> None:
    """Give the notebook's `record` what a GPU tells, from the tables of this module; `bgk` is the list's own."""
    cpu = baselines["mflups"].astype(float)
    claims = porosity_claims(table) | variant_claims(variants, by_block)
    record.measure_all(claims)
    record.measure("porous-121", **flatness(table, bgk))
    best = claims["porous-062"]
    record.measure("porous-064", **speeds.speedup_evidence(best, cpu, "sparse list in rows", "MFLUPS"))


def in_place_numbers(gains: pd.DataFrame) -> dict:
    """Mean and range of `gains_in_place`, for `Record.say`: in place is faster in the mean of the media."""
    ratios = gains["in place / list"]
    return {"mean": (mean := gmean(ratios)), "least": ratios.min(), "most": ratios.max(), "holds": mean > 1}
