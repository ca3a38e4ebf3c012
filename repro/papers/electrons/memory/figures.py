"""Figures of the notebook on memory. Each function returns (figure, arrays), the numbers that it shows."""

import matplotlib.pyplot as plt
import pandas as pd

from repro.papers.style import looks

#: bytes in a GiB
GIB = 2**30


def memory(table: pd.DataFrame):
    """Memory for currents of a process and of a GPU over the processes: as allocated, and by the formula."""
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.8), sharey=True)
    arrays = {}
    shown = {
        "one process: $96\\,N m/n^2$ bytes": ("process", "formula"),
        "all of the GPU: $96\\,N m/n$ bytes": ("GPU", "formula of the GPU"),
    }
    for axes, (title, (column, formula)) in zip(panels, shown.items(), strict=True):
        for ((side, chips), rows), look in looks(table.groupby(["side", "chips"]), ls="none"):
            name = f"{side}$^3$ cells, m = {chips}"
            axes.loglog(rows["processes"], rows[column] / GIB, **look, label=name)
            axes.loglog(rows["processes"], rows[formula] / GIB, color=look["color"], marker="none", lw=1)
            arrays[f"{title}, {side}, {chips}"] = rows[["processes", column, formula]].to_numpy()
        ticks = sorted(table["processes"].unique())
        axes.set_xticks(ticks, ticks)
        axes.minorticks_off()
        axes.set(xlabel="processes on the GPU, n", title=title)
    panels[0].set_ylabel("currents (GiB)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, arrays
