"""Tables of speeds, and their bars."""

import matplotlib.pyplot as plt
import pandas as pd

from repro.papers.style import BLUE
from repro.parallel import copy_bandwidth


def speed_table(runs, record=None, *, measured, includes: str) -> pd.DataFrame:
    """Measure a list of (case, problem, device, options) with `measured`, which returns a Speed; one row a speed.

    Where a speed has a bandwidth, adds `roof`, its share of the device's copy bandwidth. Hands every speed to the
    notebook's `record`, with what its timer `includes`.
    """
    rows = []
    for case, problem, device, options in runs:
        row = measured(case, problem, device, **options).row
        if "bandwidth" in row:
            row["roof"] = row["bandwidth"] / copy_bandwidth(device)
        rows.append(row)
        if record is not None:
            record.timing(**row, includes=includes)
    return pd.DataFrame(rows)


def ranking(speeds: pd.Series, relation: str) -> str:
    """The index in the order of the speeds: "a > b > c" for relation " > ", "c < b < a" for " < "."""
    return relation.join(str(name) for name in speeds.sort_values(ascending="<" in relation).index)


def strategy_bars(table: pd.DataFrame):
    """Speed of each strategy as a bar, with the share of the copy bandwidth that its bytes take.

    Returns (figure, arrays), the arrays being the numbers that it shows.
    """
    figure, axes = plt.subplots(figsize=(6.8, 0.45 * len(table) + 1.3))
    names = [f"{row.strategy}, {row.layout.upper()}, {row.precision}" for row in table.itertuples()]
    spread = table["mlups"] * table["spread"] / 2
    bars = axes.barh(names, table["mlups"], color=BLUE, xerr=spread, error_kw={"elinewidth": 1, "capsize": 2})
    axes.bar_label(bars, [f" {row.mlups:,.0f} ({100 * row.roof:.0f} %)" for row in table.itertuples()], fontsize=9)
    axes.invert_yaxis()
    axes.set(xlabel="speed (MLUPS; in brackets the share of the copy bandwidth)", xlim=(0, 1.3 * table["mlups"].max()))
    axes.set_title(f"{table['hardware'].iloc[0]}, {table['size'].iloc[0]} nodes")
    axes.grid(axis="y", visible=False)
    return figure, {"mlups": table["mlups"], "roof": table["roof"]}
