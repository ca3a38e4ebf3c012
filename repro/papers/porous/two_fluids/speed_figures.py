"""Figures of the notebook on the speed of two fluids."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers import speed as speeds
from repro.papers.style import BLUE, COLOURS, PAPER, SKY_BLUE

from .speed import STRUCTURES


def speed_over_sides(table: pd.DataFrame, published: pd.DataFrame, bandwidth: float):
    """MLUPS over the nodes a side beside figure 6.10, a line a strategy; dotted: what the copy bandwidth allows."""
    figure, left, right, scale = speeds.paper_and_ours(table, "mlups", (9.2, 3.8))
    left.plot(published["side"], published["mlups"], **PAPER)
    for (name, rows), colour in zip(table.groupby("strategy", sort=False), COLOURS, strict=False):
        right.plot(rows["side"], rows["mlups"] / scale, color=colour, label=name)
        allowed = bandwidth / (rows["bandwidth"] / rows["mlups"] / 1e6).iloc[0] / 1e6 / scale
        right.axhline(allowed, color=colour, ls=":", lw=1.2)
    flat = table["space"].iloc[0].endswith("²")
    sides = sorted({*published["side"], *table["side"]})
    for axes in (left, right):
        if flat:
            axes.set(xscale="log", xlim=(0.8 * sides[0], 1.25 * sides[-1]))
            axes.set_xticks(sides, list(map(str, sides)))
            axes.minorticks_off()
        else:
            axes.set_xlim(0, 1.05 * sides[-1])
    speeds.from_zero(left, right, f"nodes a side of the {'layer' if flat else 'cube'}")
    right.plot([], [], color="black", ls=":", lw=1.2, marker="none", label="allowed by the copy bandwidth")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure, {f"{name} MLUPS": rows["mlups"] for name, rows in table.groupby("strategy")}


def structure_bars(table: pd.DataFrame, published: pd.DataFrame):
    """Figure 6.12 beside speeds in the same structures: bars count pores, black lines all nodes of the box."""
    figure, left, right, scale = speeds.paper_and_ours(table, "mlups", (9.2, 3.9), width_ratios=(1, 1.7))
    left.bar(published["medium"], published["mlups"], 0.5, facecolor="none", edgecolor="black")
    names, groups = list(STRUCTURES.values()), table.groupby("strategy", sort=False)
    width = 0.8 / len(groups)
    for k, ((strategy, rows), colour) in enumerate(zip(groups, COLOURS, strict=False)):
        rows = rows.set_index("space").loc[names]
        places = np.arange(len(names)) + (k - (len(groups) - 1) / 2) * width
        right.bar(places, rows["mflups"] / scale, 0.9 * width, color=colour, label=strategy)
        look = {"color": "black", "lw": 2, "label": "per node of the box" if k == 0 else None}
        right.hlines(rows["mlups"] / scale, places - 0.45 * width, places + 0.45 * width, **look)
    right.set_xticks(range(len(names)), names)
    left.set_ylabel("speed (MLUPS on the axis)")
    right.set_ylabel(f"speed of pores ({'thousand ' if scale > 1 else ''}MFLUPS)")
    for axes in (left, right):
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
        axes.grid(axis="x", visible=False)
        axes.tick_params(axis="x", labelsize=8)
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure, {column: table[column] for column in ("mlups", "mflups")}


def allowed_and_measured(parted: pd.DataFrame, hardware: str):
    """What the copy bandwidth allows each strategy by its bytes, and what it reaches; from `step_parts`."""
    figure, axes = plt.subplots(figsize=(7.0, 0.6 * len(parted) + 1.5))
    scale, thousand = (1e3, "thousand ") if parted["allowed"].max() > 3000 else (1.0, "")
    names = [f"{row.strategy}, {row.bytes:.0f} bytes" for row in parted.itertuples()]
    axes.barh(names, parted["allowed"] / scale, color=SKY_BLUE, alpha=0.45, label="allowed by the copy bandwidth")
    drawn = axes.barh(names, parted["mflups"] / scale, 0.45, color=BLUE, label="measured")
    axes.bar_label(drawn, [f"{share:.0f} %" for share in parted["roof (%)"]], padding=3, fontsize=9)
    axes.invert_yaxis()
    axes.set(xlabel=f"speed ({thousand}MLUPS)", title=hardware)
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure, {column: parted[column] for column in ("bytes", "allowed", "mflups")}
