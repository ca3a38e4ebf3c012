"""The sentences with numbers of the notebook on the speed of two fluids, as Markdown."""

import pandas as pd

from repro.lbm.lattice import D3Q19
from repro.lbm.two_fluids.forces import links_of
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.strategies import STRATEGIES, tiled

from .speed import BLOCKS, NO_SOLID, PAPER_STRATEGY, SPHERES, in_paper_way, relative

_ITEMSIZE = 4

_LINKS = D3Q19.q - 1

#: the force's stencil in section 2.4
_PAPER_STENCIL = "central"

#: what section 6.1 stores of each fluid beside its density: three components of the velocity
_VELOCITY = 3

#: with n times the nodes a step that takes less than this share of n times as long is not ruled by its nodes
_RULED = 0.5


def baseline(cpu: pd.Series) -> str:
    """What a speedup is judged against; `cpu` is MFLUPS by baseline."""
    return f"two fluids, dense, in rows, one core: {cpu['rows']:.3g} MFLUPS"


def sides_text(layers: pd.DataFrame, cubes: pd.DataFrame, published: dict[str, pd.DataFrame]) -> str:
    """From which to which speed the paper's strategy runs on layers and cubes, beside the paper's figure 6.10."""
    found = []
    for name, table in (("layers", layers), ("cubes", cubes)):
        ours, paper = in_paper_way(table, "mlups"), published[name]["mlups"]
        slow, fast = ours.idxmin(), ours.idxmax()
        found.append(
            f"On {name} `{PAPER_STRATEGY}` makes {ours[slow]:,.4g} MLUPS ({slow}) to {ours[fast]:,.4g} ({fast}), the "
            f"paper {paper.min():.4g} to {paper.max():.4g}."
        )
    return " ".join(found)


def small_text(layers: pd.DataFrame, cubes: pd.DataFrame, block: int = 128) -> str:
    """How long a step of the smallest boxes takes, whether its nodes rule that, and on a GPU `tiled`'s blocks."""
    # in microseconds, as speeds are in millions of nodes a second
    flat, deep = (
        table.assign(step=table["side"].astype(float) ** dimensions / table["mlups"]).set_index(["strategy", "side"])
        for table, dimensions in ((layers, 2), (cubes, 3))
    )
    flat, deep, small, large = flat["step"], deep["step"], int(layers["side"].min()), int(cubes["side"].min())
    found = "; ".join(
        f"`{name}` {flat[name, small]:,.3g} µs ({small}²), {deep[name, large]:,.3g} µs ({large}³)"
        for name in layers["strategy"].unique()
    )
    text = f"In the smallest boxes a step takes: {found}.{_growth(flat[PAPER_STRATEGY])}"
    if "tiled" not in layers["strategy"].unique() or set(layers["device"]) != {"cuda"}:
        return text
    longer, more = deep["tiled", large] / flat["tiled", small], large**3 / small**2
    held = (
        f" `tiled` has {_blocks(small, 1, block)} blocks of threads in {small}² and {_blocks(large, large, block)} in "
        f"{large}³, where each takes up to {min(large, tiled.DEPTH)} planes in turn. "
    )
    if longer <= more:
        return f"{text}{held}There its step is {longer:.2g} times as long, with {more:.2g} times the nodes."
    return (
        f"{text}{held}There its step is {longer:.2g} times as long, with only {more:.2g} times the nodes. Both "
        "take one launch, so that is not it. It fits that too few blocks are under way to hide how each waits for "
        "memory, and at a barrier, in one plane after the other."
    )


def _blocks(side: int, deep: int, block: int) -> int:
    """How many blocks of threads `tiled` has in a box of side x side x deep nodes."""
    return -(-side // tiled.WIDTH) * -(-side // (block // tiled.WIDTH)) * -(-deep // tiled.DEPTH)


def _growth(steps: pd.Series) -> str:
    """What a step of the next larger layer says of the smallest; `steps` are times by side."""
    if len(steps) < 2:
        return ""
    small, next_one = sorted(steps.index)[:2]
    longer, more = steps[next_one] / steps[small], (next_one / small) ** 2
    why = (
        f"few nodes cost little beside what every step costs, such as launching {_kernels(PAPER_STRATEGY)} kernels and "
        "waiting for memory"
        if longer < _RULED * more
        else "the nodes rule it already"
    )
    return f" With {more:.2g} times the nodes ({next_one}²) `{PAPER_STRATEGY}` takes {longer:.2g} times as long: {why}."


def _kernels(strategy: str) -> int:
    return 2 if STRATEGIES[strategy].COST.moved else 1


def structures_text(packed: pd.DataFrame, published: pd.DataFrame, claim) -> str:
    """Speeds over that without solid, per pore and per node of the box, beside the paper's figure 6.12.

    And what that makes of the `claim` on how much slower blocks are, by each way of reading it.
    """
    paper = published.set_index("medium")["mlups"]
    of_paper = [f"{paper[space] / paper[NO_SOLID]:.2f}" for space in (SPHERES, BLOCKS)]
    lines = [
        "| over no solid | spheres, per pore | blocks, per pore | spheres, per node | blocks, per node |",
        "|---|---|---|---|---|",
        f"| paper, by either reading | {' | '.join(2 * of_paper)} |",
    ]
    pores, nodes = relative(packed), relative(packed, "mlups")
    for name in pores.index:
        numbers = [f"{table.loc[name, space]:.2f}" for table in (pores, nodes) for space in (SPHERES, BLOCKS)]
        lines.append(f"| `{name}` | {' | '.join(numbers)} |")
    return "\n".join([*lines, "", _readings(pores[BLOCKS], nodes[BLOCKS], claim)])


def _readings(pores: pd.Series, nodes: pd.Series, claim) -> str:
    """Whether a claimed slowdown in % is met by each storage, per pore and per node; speeds over no solid."""
    paper, margin = claim.bounds()[0], claim.margin()
    names = [name for name in (PAPER_STRATEGY, "dense") if name in pores.index]
    lost = {(n, unit): 100 * (1 - t[n]) for n in names for unit, t in (("pore", pores), ("node", nodes))}
    within = {reading: abs(value - paper) <= margin for reading, value in lost.items()}
    judged = (PAPER_STRATEGY, "pore")
    others = "; ".join(
        f"`{name}` per {unit} {'loses' if lost[name, unit] >= 0 else 'gains'} {abs(lost[name, unit]):.0f} %, "
        f"{_within(within[name, unit])}"
        for name, unit in lost
        if (name, unit) != judged
    )
    text = (
        f"With blocks the paper loses {paper:g} %, for which it blames the branches that wet walls. "
        f"`{PAPER_STRATEGY}` per pore, which is judged, {'loses' if lost[judged] >= 0 else 'gains'} "
        f"{abs(lost[judged]):.0f} %, {_within(within[judged])} {margin:g} points of that. Here the map that leads to a "
        "neighbour also tells that it is a wall, whose potential takes the place of a density: wetting adds one choice "
        f"a neighbour, and neither a pass nor an array. The other readings: {others}. "
    )
    if len(set(within.values())) == 1:
        return text + "So the verdict does not depend on the reading."
    return text + (
        "**So the verdict depends on the reading**, and which one is the paper's cannot be told for certain: chapter 6 "
        "names no storage, and though MLUPS, as on its axis, count all nodes by section 4.2, its section 6.4 predicts "
        "MLUPS from a rate in MFLUPS."
    )


def _within(holds: bool) -> str:
    return "within" if holds else "**not within**"


def apart_text(apart: pd.DataFrame, block: int = 128) -> str:
    """How far each strategy is from what its bytes allow, and whether one kernel would be the better choice."""
    rows = apart.set_index("strategy")
    reached = ", ".join(f"`{name}` {row['roof (%)']:.0f} %" for name, row in rows.iterrows())
    moved = {name: strategy.COST.bytes_per_update(_ITEMSIZE, 1.0) for name, strategy in STRATEGIES.items()}
    gains = {name: moved[name] / moved["tiled"] for name in ("dense", "sparse")}
    text = (
        f"Of what the copy bandwidth allows by their bytes the strategies reach: {reached}. One fused kernel, `tiled`, "
        f"moves {moved['tiled']:.0f} bytes a node, so by its bytes it may be {gains['dense']:.2f} times as fast as "
        f"`dense` and {gains['sparse']:.2f} times as fast as `sparse`."
    )
    if not {"dense", "tiled"} <= set(rows.index):
        return text + " It is measured in the profile `paper`."
    why = (
        f"Without tiles every node would compute {_LINKS + 1} densities of each fluid, its neighbours' among them; "
        f"tiles of {tiled.WIDTH} x {block // tiled.WIDTH} nodes that walk {tiled.DEPTH} nodes along z bring that down "
        f"to {tiled.repeats(block):.2f}, and once more for the collision."
    )
    return f"{text} {_one_against_two(rows)} {why}"


def _one_against_two(rows: pd.DataFrame) -> str:
    """Whether one kernel is faster than two kernels, beyond the spread of what is compared; rows by strategy."""
    one, found, signs = rows.loc["tiled"], [], []
    for name, role in (("dense", "keeps the same nodes"), ("sparse", "stands for the paper's program")):
        if name not in rows.index:
            continue
        ratio, spread = one["mflups"] / rows.loc[name, "mflups"], max(one["spread (%)"], rows.loc[name, "spread (%)"])
        signs.append(0 if 100 * abs(ratio - 1) <= spread else 1 if ratio > 1 else -1)
        told = "" if signs[-1] else f", which a spread of {spread:.0f} % does not tell from 1"
        found.append(f"{ratio:.2f} times as fast as `{name}`, which {role}{told}")
    if max(signs) < 0:
        verdict = "so the two kernels stay"
    elif max(signs) == 0:
        verdict = "so one kernel gains nothing beyond the spread"
    elif min(signs) > 0:
        verdict = "so two kernels are not the better choice here"
    else:
        verdict = "so which is the better choice hangs on what it is compared with"
    return f"In this box it is {', and '.join(found)}: {verdict}."


def densities_text(apart: pd.DataFrame, claim) -> str:
    """The share of the pass over the densities in the time, in the bytes, and in the bytes of a card without caches.

    There with the stencil that is run and with the paper's, beside the paper's `claim` on the share in its time.
    """
    cost, row = STRATEGIES[PAPER_STRATEGY].COST, apart.set_index("strategy").loc[PAPER_STRATEGY]
    paper, margin = claim.bounds()[0], claim.margin()
    first, whole = cost.densities_bytes(_ITEMSIZE, 1.0), cost.bytes_per_update(_ITEMSIZE, 1.0)
    ours, theirs = (2 * len(links_of(stencil)) for stencil in (TwoFluids.stencil, _PAPER_STENCIL))

    def share(neighbours: int, stored: int = 0) -> float:
        # two potentials of each neighbour from memory, not of the node alone; `stored` numbers more that the first
        # kernel writes and the second one reads
        return 100 * (first + stored * _ITEMSIZE) / (whole + 2 * (neighbours - 1 + stored) * _ITEMSIZE)

    all_theirs = share(theirs, 2 * _VELOCITY)
    explained = (
        f"That is within {margin:g} points of the paper's {paper:g} %."
        if abs(all_theirs - paper) <= margin
        else f"The paper's profiler has {paper:g} %: **the bytes do not explain that**, and the paper does not say how "
        "long its second kernel computes, or waits. The gap stays unexplained."
    )
    return (
        f"The pass over the densities takes {row['densities (%)']:.0f} % of a step of `{PAPER_STRATEGY}`, and has "
        f"{row['by bytes (%)']:.0f} % of its bytes. A card that keeps nothing of what neighbouring nodes read, as "
        f"the paper's, has to read {2 * ours} densities of {ours} neighbours from memory instead of 2, which makes the "
        f"share in the bytes {share(ours):.0f} %; with the {theirs} neighbours of the paper's central differences it "
        f"reads {2 * theirs}, and the share is {share(theirs):.0f} %; with the velocities that the paper's kernel "
        f"stores, too, and its second one has to read, {all_theirs:.0f} %. {explained} "
        f"{_judged_share(apart, claim)}"
    )


def _judged_share(apart: pd.DataFrame, claim) -> str:
    """Whether the pass over the densities takes the claimed share with the storage that is judged, and with `dense`."""
    paper, margin, shares = claim.bounds()[0], claim.margin(), apart.set_index("strategy")["densities (%)"]
    near = {name: _within(abs(share - paper) <= margin) for name, share in shares.items()}
    text = f"`{PAPER_STRATEGY}` is judged, {near[PAPER_STRATEGY]} {margin:g} points of the paper's share"
    if "dense" not in near:
        return text + "."
    return f"{text}; `dense` has {shares['dense']:.0f} %, {near['dense']} {margin:g} points."


def losses_text(lost: pd.DataFrame) -> str:
    """By how much two fluids are slower than one, and by how much they would be by their bytes alone."""
    found = "; ".join(
        f"{row['space']} {row['loss (%)']:.0f} % ({row['by bytes (%)']:.0f} % by the bytes alone)"
        for _, row in lost.iterrows()
    )
    return f"Two fluids against one, per pore: {found}."


def speedups_text(best: pd.Series, cpu: pd.Series) -> str:
    """How many times a row of `speed_table` is as fast as each CPU baseline; `cpu` is MFLUPS by baseline."""
    times = ", ".join(f"{_factor(best['mflups'] / value)} times {name}" for name, value in cpu.items())
    return f"`{best['strategy']}` at its best, in {best['space']}, makes {best['mflups']:,.4g} MFLUPS: {times}."


def _factor(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
