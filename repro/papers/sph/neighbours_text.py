"""Sentences of the notebook on the neighbour search, as Markdown, with their numbers."""

import numpy as np
import pandas as pd

from repro.sph.strategies import STRATEGIES


def statements(table: pd.DataFrame) -> str:
    """How many of the paper's statements on its example hold, from `neighbours.statements`."""
    held = int((table["paper"] == table["here"]).sum())
    return f"{held} of {len(table)} statements of the paper's text hold for the sorted arrays."


def agreement(table: pd.DataFrame) -> str:
    """Whether the searches find what brute force finds, from `neighbours.agreement`."""
    count, worst = int(table["particles"].sum()), {name: table[name].min() for name in (*STRATEGIES, "one order")}
    equal = [name for name in STRATEGIES if worst[name] == 100]
    found = f"The neighbours of {count:,} particles were compared with those that brute force finds."
    if len(equal) < len(STRATEGIES):
        return f"{found} **They differ** for {', '.join(set(STRATEGIES) - set(equal))}."
    order = "in the same order" if worst["one order"] == 100 else "**not in the same order**"
    return f"{found} All of them are the same sets for {', '.join(equal)}, and all searches list them {order}."


def candidates(table: pd.DataFrame) -> str:
    """Candidates for each neighbour found, from `neighbours.candidate_table`."""
    ideal = 27 / (4 / 3 * np.pi)
    ours = "; ".join(
        f"at ratio {row['ratio']:g} **{row['candidates a neighbour']:.2f}** ({row['candidates']:.0f} candidates for "
        f"{row['neighbours']:.0f} neighbours; by volumes {row['by volumes']:.2f})"
        for _, row in table.iterrows()
    )
    return (
        f"With cells exactly as wide as the support the ratio of volumes is 27 / (4/3 pi) = {ideal:.2f}. Found: {ours}."
    )


def empty_cells(table: pd.DataFrame) -> str:
    """What the first-index array takes in the smallest and the largest tank, from `neighbours.empty_cells`."""
    first, last = table.iloc[0], table.iloc[-1]

    def cost(row):
        share = 100 * row["first index (us)"] / (row["first index (us)"] + row["sort (us)"])
        return (
            f"{row['empty (%)']:.1f} % of {row['cells']:,.0f} cells are empty, the array takes "
            f"{row['bytes a particle']:.0f} bytes a particle and {share:.0f} % of the time of the table"
        )

    return (
        f"In a tank of {first['tank length']:g} widths {cost(first)}; in one of {last['tank length']:g} widths "
        f"{cost(last)}."
    )
