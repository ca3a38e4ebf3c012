"""Sentences of the thermodynamics notebook, as Markdown, with their numbers."""

import pandas as pd

from repro.dpd.fluid import Fluid
from repro.dpd.observables import Estimate


def pressure(table: pd.DataFrame) -> str:
    """The pressure of the paper's fluid beside Groot and Warren's fit, from `equilibrium.pressures`."""
    paper = table[(table["a"] == Fluid.repulsion) & (table["rho"] == Fluid.density)].iloc[0]
    return (
        f"The paper's fluid has p = {paper['p']:.3f} +- {paper['error']:.3f}. The fit says {paper['fit']:.3f}, which "
        f"is {100 * (paper['fit'] / paper['p'] - 1):+.1f} % off; the run's own factor is alpha = {paper['alpha']:.4f}."
    )


def diffusion(table: pd.DataFrame, rate: Estimate) -> str:
    """Self-diffusion without repulsion beside kinetic theory, and the initial friction rate, which is exact."""
    ideal = table[table["a"] == 0].iloc[0]
    return (
        f"Without repulsion D = {ideal['D']:.3f} +- {ideal['error']:.3f}, "
        f"{100 * (ideal['D'] / ideal['theory'] - 1):+.0f} % off kinetic theory's {ideal['theory']:.3f}. The initial "
        f"friction rate is {rate.value:.3f} +- {rate.error:.3f}, where {1 / ideal['theory']:.3f} is exact. So the "
        "friction is right, and what is off is the theory's assumption of an exponential decay: the right panel shows "
        "that the velocity autocorrelation decays more slowly."
    )


def checks(table: pd.DataFrame) -> str:
    """How many checks hold, and which do not, from `checks.table_of`."""
    missed = "; ".join(
        f"{row['law']} ({row['measured']:.4g} +- {row['error']:.1g} against {row['theory']:.4g})"
        for row in table[~table["holds"]].to_dict("records")
    )
    passed = f"**{int(table['holds'].sum())} of {len(table)}** checks hold."
    return f"{passed} Off are: {missed}." if missed else passed
