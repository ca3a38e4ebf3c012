"""Figures of the notebook on the speed of flow in porous media."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers import speed as speeds
from repro.papers.style import COLOURS, OURS, PAPER

from ..published import figure_points

#: one colour a strategy in all figures, the paper's two first
_COLOUR = dict(zip(("flag word", "sparse", "sparse in place", "branches"), COLOURS, strict=False))


def speed_over_porosity(table: pd.DataFrame, published: pd.DataFrame, column: str):
    """Speed over porosity, "mlups" or "mflups", one line a strategy: the paper's figure 5.10 beside ours."""
    figure, left, right, scale = speeds.paper_and_ours(table, column, (9.0, 3.7))
    for name, rows in published.groupby("series", sort=False):
        left.plot(rows["x"], rows["y"], label=name.split(" (")[0])
    for name, rows in table.groupby("strategy", sort=False):
        rows = rows.sort_values("porosity")
        right.plot(rows["porosity"], rows[column] / scale, color=_COLOUR[name], label=name)
    speeds.from_zero(left, right, "porosity")
    left.legend()
    right.legend()
    return figure, {f"{name} {column}": rows[column] for name, rows in table.groupby("strategy")}


def ratios(table: pd.DataFrame, name: str, published: pd.DataFrame):
    """A column, "drop" or "share", of `flag_word_variants` with its ends, beside the paper's (figures 5.11, 5.12)."""
    figure, axes = plt.subplots(figsize=(5.6, 3.4))
    rows = table.sort_values("porosity")
    ends = [rows[name] - rows[f"{name} least"], rows[f"{name} most"] - rows[name]]
    axes.plot(published["x"], published["y"], **PAPER, label="paper")
    axes.errorbar(rows["porosity"], rows[name], ends, **OURS | {"marker": "s"}, capsize=2, label="this run")
    axes.axhline(0, color="black", lw=0.8)
    labels = {"drop": "slower than BGK (%)", "share": "double over single precision (%)"}
    axes.set(xlabel="porosity", ylabel=labels[name])
    axes.legend()
    return figure, {"porosity": table["porosity"], name: table[name]}


def speed_over_blocks(table: pd.DataFrame, published: pd.DataFrame):
    """MLUPS of the flag word over the porosity, a line a block size: figure 5.13 beside `speed.over_blocks`."""
    figure, left, right, scale = speeds.paper_and_ours(table, "mlups", (9.0, 4.0))
    published = published.assign(block=published["series"].str.removeprefix("BX=").astype(int))
    for block, rows in published.groupby("block"):
        left.plot(rows["x"], rows["y"], label=f"{block} threads a block")
    for _, rows in sorted(table.groupby("block")):
        rows = rows.sort_values("porosity")
        right.plot(rows["porosity"], rows["mlups"] / scale)
    speeds.from_zero(left, right, "porosity")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure, {f"block {block} MLUPS": rows["mlups"] for block, rows in table.groupby("block")}


def packing_bars(table: pd.DataFrame, hardware: str):
    """Speeds in packings, slowest to fastest run, a group a medium; at the bars their share of the copy bandwidth."""
    media, names = list(dict.fromkeys(table["medium"])), list(dict.fromkeys(table["strategy"]))
    figure, axes = plt.subplots(figsize=(7.0, (0.2 * len(names) + 0.15) * len(media) + 1.4))
    width = 0.82 / len(names)
    for k, name in enumerate(names):
        rows = table[table["strategy"] == name].set_index("medium").loc[media]
        places = np.arange(len(media)) + (k - (len(names) - 1) / 2) * width
        look = {"color": _COLOUR[name], "label": name} | speeds.run_errors(rows, "mflups")
        drawn = axes.barh(places, rows["mflups"], 0.9 * width, **look)
        axes.bar_label(drawn, [f" {100 * roof:.0f} %" for roof in rows["roof"]], fontsize=8)
    axes.set_yticks(range(len(media)), media)
    axes.invert_yaxis()
    axes.set(xlabel="speed (MFLUPS; at the bars the share of the copy bandwidth)")
    axes.set_title(f"{hardware}, {table['size'].iloc[0]} voxels, single precision")
    axes.set_xlim(0, 1.12 * axes.dataLim.xmax)
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=len(names))
    return figure, {"mflups": table["mflups"], "roof": table["roof"]}


def porosity_figures(table: pd.DataFrame, data: Path) -> dict[str, tuple]:
    """Figures 5.10a and 5.10b by name, the paper's points from the folder data/."""
    points = {"mlups": figure_points(data, "5.10a"), "mflups": figure_points(data, "5.10b")}
    return {f"porosity-{rate.upper()}": speed_over_porosity(table, rows, rate) for rate, rows in points.items()}


def flag_word_figures(variants: pd.DataFrame, by_block: pd.DataFrame, data: Path) -> dict[str, tuple]:
    """Figures 5.11, 5.12 and 5.13 by name, the paper's points from the folder data/."""
    ratios_of = (("drop", "5.11"), ("share", "5.12"))
    drawn = {name: ratios(variants, name, figure_points(data, number)) for name, number in ratios_of}
    return drawn | {"blocks": speed_over_blocks(by_block, figure_points(data, "5.13"))}
