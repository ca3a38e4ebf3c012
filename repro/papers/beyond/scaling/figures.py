"""Figures of the notebook on scaling; each function returns (figure, arrays), the arrays being the numbers it shows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from repro.papers.style import OURS, look

from .a_rank import AFTER
from .model import Link
from .runs import STRONG, WEAK


def kept(table: pd.DataFrame):
    """The share of the speed of one rank that each keeps, over the number of ranks: weak scaling left, strong right.

    Dashes are of steps whose exchange follows the work.
    """
    figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.8), sharey=True)
    for axes, kind in zip(panels, (WEAK, STRONG), strict=True):
        axes.axhline(100, color="0.5", linewidth=0.8)
        for k, (method, rows) in enumerate(table[table["scaling"] == kind].groupby("method", sort=False)):
            after = rows["exchange"] == AFTER
            for some, more in ((rows[~after], {"label": method}), (rows[after], {"linestyle": "--", "mfc": "none"})):
                axes.plot(some["ranks"], some["kept (%)"], **look(k), **more)
        axes.set(title=f"{kind} scaling", xlabel="ranks", xticks=sorted(table["ranks"].unique()))
    panels[0].set(ylabel="speed a rank, over that of one (%)", ylim=(0, None))
    panels[0].legend()
    return figure, dict(table[["scaling", "method", "ranks", "kept (%)"]])


def messages(table: pd.DataFrame, link: Link):
    """Times of messages over their bytes, and the line of a latency and a bandwidth."""
    figure, axes = plt.subplots()
    for k, (ranks, rows) in enumerate(table.groupby("ranks")):
        axes.plot(rows["bytes"], 1e6 * rows["seconds"], **look(k) | {"linestyle": "none"}, label=f"{ranks} ranks")
    sizes = np.geomspace(table["bytes"].min(), table["bytes"].max(), 50)
    label = f"{1e6 * link.latency:.3g} us + bytes / ({1e-9 * link.bandwidth:.3g} GB/s)"
    axes.plot(sizes, [1e6 * link.seconds(size) for size in sizes], **OURS, label=label)
    axes.set(xscale="log", yscale="log", xlabel="bytes that leave a rank", ylabel="time of an exchange (us)")
    axes.legend()
    return figure, dict(table[["ranks", "bytes", "seconds"]])


def model(table: pd.DataFrame):
    """What the model says of so many ranks: the share of the speed of one that each keeps, weak and strong."""
    figure, axes = plt.subplots()
    for k, kind in enumerate((WEAK, STRONG)):
        axes.plot(table["ranks"], table[kind], **look(k), label=f"{kind} scaling (model)")
    axes.set(xscale="log", xlabel="ranks", ylabel="speed a rank, over that of one (%)", ylim=(0, 105))
    axes.set_xticks(table["ranks"], table["ranks"])
    axes.minorticks_off()
    axes.legend()
    return figure, dict(table)
