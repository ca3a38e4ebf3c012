"""Checks of the thermodynamics notebook: each measured number against theory, with its tolerance.

A check is (law, measured, error, theory, tolerance).
"""

from math import hypot, nan

import numpy as np
import pandas as pd

from repro.dpd.observables import Estimate

from .equilibrium import deviation_from_one

#: allowed deviation in standard errors, where theory is exact or the tolerance is smaller than the error
SIGMAS = 3


def of_temperature(table: pd.DataFrame) -> list[tuple]:
    """Groot and Warren: kT is too high with plain velocity-Verlet (lambda = 0.5), hardly with lambda = 0.65."""
    known = {(0.5, 0.02): (1.01, 0.005), (0.5, 0.04): (1.03, 0.01), (0.65, 0.02): (1.0, 0.005)}
    return [
        (f"kT, lambda = {predictor:g}, dt = {dt:g}", value, error, *known[predictor, dt])
        for predictor, dt, value, error in table[["lambda", "dt", "kT", "error"]].itertuples(index=False)
        if (predictor, dt) in known
    ]


def of_pressure(table: pd.DataFrame) -> list[tuple]:
    """rho kT exactly without repulsion, and otherwise Groot and Warren's fit within 5 %."""
    found = []
    for row in table.to_dict("records"):
        case = f"a = {row['a']:g}, rho = {row['rho']:g}"
        if row["a"]:
            found.append((f"pressure, {case}", row["p"], row["error"], row["fit"], 0.05 * row["fit"]))
        else:
            found.append((f"p - rho kT, {case}", row["excess"], row["excess error"], 0.0, 0.0))
    return found


def of_structure(table: pd.DataFrame) -> list[tuple]:
    """g = 1 everywhere for an ideal gas: deviations are as large as the standard errors."""
    return [("(g - 1) / error, root mean square, a = 0", deviation_from_one(table[table["a"] == 0]), nan, 1.0, 0.5)]


def of_diffusion(table: pd.DataFrame, rate: Estimate) -> list[tuple]:
    """The rate of friction exactly, and kinetic theory's self-diffusion within 30 %, both for a = 0."""
    row = table[table["a"] == 0].iloc[0]
    return [
        ("rate of friction, a = 0", rate.value, rate.error, 1 / row["theory"], 0.0),
        ("self-diffusion, a = 0", row["D"], row["error"], row["theory"], 0.3 * row["theory"]),
    ]


def of_viscosity(table: pd.DataFrame) -> list[tuple]:
    """Kinetic theory's viscosity within 30 %, and the same viscosity for every drive (linear response)."""
    found = []
    for repulsion, rows in table.groupby("a"):
        weak, strong = (rows.loc[index] for index in (rows["drive"].idxmin(), rows["drive"].idxmax()))
        law = f"viscosity, a = {repulsion:g}"
        found.append((law, weak["viscosity"], weak["error"], weak["theory"], 0.3 * weak["theory"]))
        difference, error = strong["viscosity"] - weak["viscosity"], hypot(strong["error"], weak["error"])
        found.append((f"{law}: strong minus weak drive", difference, error, 0.0, 0.0))
    return found


def of_all(temperature, pressure, structure, diffusion, rate: Estimate, viscosity) -> pd.DataFrame:
    """`table_of` all checks, from the tables of the five quantities and the friction rate."""
    found = of_temperature(temperature) + of_pressure(pressure) + of_structure(structure)
    return table_of(found + of_diffusion(diffusion, rate) + of_viscosity(viscosity))


def table_of(checks: list[tuple]) -> pd.DataFrame:
    """The checks, one per row, and whether each holds: within its tolerance, or three errors; nan never holds."""
    table = pd.DataFrame(checks, columns=["law", "measured", "error", "theory", "tolerance"])
    # an unknown error allows nothing beside the tolerance
    allowed = np.fmax(table["tolerance"], SIGMAS * table["error"])
    return table.assign(holds=(table["measured"] - table["theory"]).abs() <= allowed)


def exact_laws_hold(table: pd.DataFrame) -> bool:
    """Whether all checks of `table_of` hold whose tolerance is nothing but the error."""
    return bool(table.loc[table["tolerance"] == 0, "holds"].all())
