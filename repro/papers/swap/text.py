"""The sentences with numbers of the swap notebooks, as Markdown."""

import pandas as pd

from .iteration import share_of


def reference_text(table: pd.DataFrame) -> str:
    """How far the finest grid's profiles lie from the published ones; `table` is from `cavity3d.reference_table`."""
    finest = table.iloc[-1]
    return (
        f"Re = 1000: on {finest['nodes a side']:.0f} nodes a side our profiles differ from the published points by "
        f"{100 * finest['rms']:.2f} % of the lid's speed (root mean square), at most by "
        f"{100 * finest['largest']:.2f} %."
    )


def grids_text(grids: int, populations: int, largest: int) -> str:
    """On how many small grids taking by types is the serial sweep, from `tables.grids_that_agree`."""
    return (
        f"Taking by types left bit for bit what the serial sweep leaves on **{grids} of {largest**3} grids** with 1 to "
        f"{largest} interior nodes a side, cubic or not: {populations:,} populations compared."
    )


def model_text(table: pd.DataFrame) -> str:
    """How well the model predicts the iterations; `table` is from `iteration.iterations`."""
    off = table.assign(error=(100 * (table["predicted/measured"] - 1)).abs())
    worst = off.loc[off["error"].idxmax()]
    return (
        f"The model is within 25 % of {int((off['error'] <= 25).sum())} of {len(off)} iterations, and within "
        f"{worst['error']:.0f} % of all; the worst is {worst['way']} on {worst['nodes']}^3."
    )


def serial_text(parts: pd.DataFrame, nodes: int) -> str:
    """What collision and streaming take of the serial program; `parts` is from `iteration.iteration_parts`."""
    return (
        f"Collision and streaming take {share_of(parts, 'serial', nodes):.0f} % of our serial iteration on {nodes}^3 "
        "nodes, boundary nodes the rest. That is no contradiction to the paper's 71 %: Palabos also spends time on "
        "statistics and bookkeeping, which this program does not have."
    )


def speedups_note(speedups: dict[str, list[float]]) -> str:
    """The speedups over the grid sizes, from `iteration.growth`."""
    return ", ".join(f"{nodes}^3: {min(values):.1f} to {max(values):.1f}" for nodes, values in speedups.items())


def strategies_text(table: pd.DataFrame) -> str:
    """Links against types, and the last strategy against links; `table` is from `iteration.strategy_table`."""
    speeds = table[table["precision"] == "double"].set_index("strategy")["mlups"]
    last = speeds.index[-1]
    return (
        f"In double precision on {table['size'].iloc[0]} nodes, links run at "
        f"{speeds['swap links'] / speeds['swap types']:.2f} times the speed of types, and {last} at "
        f"{speeds[last] / speeds['swap links']:.2f} times the speed of links."
    )
