"""The sentences with numbers of the notebook on the speed of two fluids, as Markdown."""

import pandas as pd

from repro.lbm.lattice import D3Q19
from repro.lbm.two_fluids.strategies import STRATEGIES, tiled

from .speed import BLOCKS, NO_SOLID, PAPER_STRATEGY, SPHERES, in_paper_way, relative

_ITEMSIZE = 4

_LINKS = D3Q19.q - 1


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


def structures_text(packed: pd.DataFrame, published: pd.DataFrame) -> str:
    """Speeds over that without solid, per pore and per node of the box, beside the paper's figure 6.12."""
    paper = published.set_index("medium")["mlups"]
    lines = [
        "| over no solid | spheres, per pore | blocks, per pore | spheres, per node | blocks, per node |",
        "|---|---|---|---|---|",
        f"| paper | {paper[SPHERES] / paper[NO_SOLID]:.2f} | {paper[BLOCKS] / paper[NO_SOLID]:.2f} | | |",
    ]
    pores, nodes = relative(packed), relative(packed, "mlups")
    for name in pores.index:
        numbers = [f"{table.loc[name, space]:.2f}" for table in (pores, nodes) for space in (SPHERES, BLOCKS)]
        lines.append(f"| `{name}` | {' | '.join(numbers)} |")
    return "\n".join(lines)


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
    dense, one = rows.loc["dense"], rows.loc["tiled"]
    found = one["mflups"] / dense["mflups"]
    verdict = "so the two kernels stay" if found < 1 else "so two kernels are not the better choice here"
    why = (
        f"Without tiles every node would compute {_LINKS + 1} densities of each fluid, its neighbours' among them; "
        f"tiles of {tiled.WIDTH} x {block // tiled.WIDTH} nodes that walk {tiled.DEPTH} nodes along z bring that down "
        f"to {tiled.repeats(block):.2f}, and once more for the collision."
    )
    return f"{text} It is {found:.2f} times as fast as `dense`, {verdict}. {why}"


def densities_text(apart: pd.DataFrame) -> str:
    """The share of the pass over the densities in the time, in the bytes, and in the bytes of a card without caches."""
    cost, row = STRATEGIES[PAPER_STRATEGY].COST, apart.set_index("strategy").loc[PAPER_STRATEGY]
    # two potentials of each neighbour from memory, not of the node alone
    uncached = row["bytes"] + 2 * (_LINKS - 1) * _ITEMSIZE
    share = 100 * cost.densities_bytes(_ITEMSIZE, 1.0) / uncached
    return (
        f"The pass over the densities takes {row['densities (%)']:.0f} % of a step of `{PAPER_STRATEGY}`, and has "
        f"{row['by bytes (%)']:.0f} % of its bytes. On a card that keeps nothing of what neighbouring nodes read, as "
        f"the paper's, the second kernel reads {2 * _LINKS} densities from memory instead of 2, and the share in the "
        f"bytes is {share:.0f} %."
    )


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
