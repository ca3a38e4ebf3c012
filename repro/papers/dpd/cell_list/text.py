"""Sentences of the notebook on cell lists, as Markdown, with their numbers."""

import pandas as pd


def agreement(table: pd.DataFrame) -> str:
    """How many particles the lists have in the right cell, from `contents.compare_lists`."""
    right, all_particles = int(table["in the right cell"].sum()), int(table["particles"].sum())
    return f"{right:,} of {all_particles:,} particles are in the cell that the host finds."


def overflow(message: str, lost: int, capacity: int) -> str:
    """What happened with a table that was too small, from `contents.overflow`."""
    return (
        f"With a capacity of {capacity}, {lost} particles of the first box found no place in the table, and the "
        f"simulation said: *{message}*."
    )


def stencil(visited: float, counted: str) -> str:
    """How many cells a particle looks into, from `contents.cells_visited`."""
    return f"Counted: {counted}. So a particle looks into **{visited:g}** cells for each pair to be met once."


def deviations(clearing: pd.DataFrame, shares: pd.DataFrame) -> str:
    """How the two ratios depend on the size, from `speed.clearing_table` and `speed.step_shares`."""
    ratios = ", ".join(
        f"{row['update / clear all']:.2f} with {row['particles']:,.0f}" for _, row in clearing.iterrows()
    )
    times = "; ".join(
        f"{row['list (us)']:.3g} of {row['step (us)']:,.0f} microseconds with {row['particles']:,.0f} particles "
        f"({row['share (%)']:.2g} %)"
        for _, row in shares.iterrows()
    )
    return (
        f"An update takes this many times as long as clearing everything, by the particles: {ratios}. Of a step it "
        f"takes {times}."
    )


def contention(table: pd.DataFrame, typical: int = 4) -> str:
    """Rates of atomic additions with `typical` particles a cell, and the lowest rate, from `speed.contention`."""
    at_typical = table[table["particles a cell"] == typical].set_index("order")["additions a second"]
    slowest = table.loc[table["additions a second"].idxmin()]
    return (
        f"At the fluid's {typical} particles per cell: {at_typical['random']:.2g} atomic additions a second in random "
        f"order and {at_typical['by cell']:.2g} by cell. The lowest rate, {slowest['additions a second']:.2g}, is that "
        f"with {slowest['particles a cell']} particles in a cell."
    )
