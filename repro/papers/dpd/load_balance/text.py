"""Sentences of the notebook on load balancing, as Markdown, with their numbers."""

import pandas as pd

from .uneven import KINDS


def gain(device, times: pd.DataFrame, gains: pd.DataFrame, extra_memory: float) -> str:
    """What sorting cells by load gains on the drops, what it takes, and how all strategies fare on uneven densities.

    From the tables `balance.times_table` and `balance.gains`; `extra_memory` is `balance.extra_memory`.
    """
    at, seconds = gains.set_index("density"), times.set_index(["strategy", "density"])["seconds"].unstack("density")
    drops, uneven = at.loc["drops"], at.loc[list(KINDS), "with sorting"]
    slower = seconds["drops"] / seconds["even"]
    ratio = seconds.loc["cell by load", "drops"] / seconds.loc["particle", "drops"]
    return (
        f"On `{device}` the model predicts {drops['predicted gain']:.2f} times the speed for the force kernel of the "
        f"drops after sorting; measured are **{drops['kernel']:.2f}** times, and **{drops['with sorting']:.2f}** times "
        f"with lists and sorting. Sorting takes {drops['sorting (% of lists and forces)']:.2g} % of the time of lists "
        f"and forces, and {extra_memory:.1%} more memory than the table of cells. Going from the even density to drops "
        f"makes `cell` slower by a factor of {slower['cell']:.2f}, `cell by load` {slower['cell by load']:.2f}, "
        f"`particle` {slower['particle']:.2f} and `sorted cells` {slower['sorted cells']:.2f}. Of the uneven boxes, "
        f"{uneven.idxmin()} gains least by sorting ({uneven.min():.2f}) and {uneven.idxmax()} most "
        f"({uneven.max():.2f}). On the drops, `cell by load` takes {ratio:.2f} times as long as `particle`."
    )


def verdict_note(device, gains: pd.DataFrame) -> str:
    """How the balance was found, and the gain in time beside it, which is not judged; from `balance.gains`."""
    drops = gains.set_index("density").loc["drops"]
    return (
        f"counted from the candidate pairs; in time on {device.name} the force kernel alone gains "
        f"{drops['kernel']:.2f}, with lists and sorting {drops['with sorting']:.2f}"
    )
