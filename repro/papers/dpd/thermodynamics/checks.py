"""Checks of the thermodynamics notebook: each measured number against theory, with its tolerance."""

from dataclasses import dataclass
from math import hypot, nan

import pandas as pd

from repro.dpd.observables import Estimate

from .equilibrium import deviation_from_one

#: allowed deviation in standard errors, where theory is exact or the tolerance is smaller than the error
SIGMAS = 3


@dataclass(frozen=True)
class Check:
    """A measured number with its error, the theoretical value, and the tolerance."""

    law: str
    measured: float
    error: float
    theory: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Within the tolerance, or within three standard errors; nan never holds."""
        return abs(self.measured - self.theory) <= max(self.tolerance, SIGMAS * self.error)


def of_temperature(table: pd.DataFrame) -> list[Check]:
    """Groot and Warren: kT is too high with plain velocity-Verlet (lambda = 0.5), hardly with lambda = 0.65."""
    known = {(0.5, 0.02): (1.01, 0.005), (0.5, 0.04): (1.03, 0.01), (0.65, 0.02): (1.0, 0.005)}
    rows = [row for row in table.to_dict("records") if (row["lambda"], row["dt"]) in known]
    return [
        Check(f"kT, lambda = {row['lambda']:g}, dt = {row['dt']:g}", row["kT"], row["error"], *known[key])
        for row in rows
        for key in [(row["lambda"], row["dt"])]
    ]


def of_pressure(table: pd.DataFrame) -> list[Check]:
    """rho kT exactly without repulsion, and otherwise Groot and Warren's fit within 5 %."""
    found = []
    for row in table.to_dict("records"):
        case = f"a = {row['a']:g}, rho = {row['rho']:g}"
        if row["a"]:
            found.append(Check(f"pressure, {case}", row["p"], row["error"], row["fit"], 0.05 * row["fit"]))
        else:
            found.append(Check(f"p - rho kT, {case}", row["excess"], row["excess error"], 0.0, 0.0))
    return found


def of_structure(table: pd.DataFrame) -> list[Check]:
    """g = 1 everywhere for an ideal gas: deviations are as large as the standard errors."""
    return [
        Check("(g - 1) / error, root mean square, a = 0", deviation_from_one(table[table["a"] == 0]), nan, 1.0, 0.5)
    ]


def of_diffusion(table: pd.DataFrame, rate: Estimate) -> list[Check]:
    """The rate of friction exactly, and kinetic theory's self-diffusion within 30 %, both for a = 0."""
    row = table[table["a"] == 0].iloc[0]
    return [
        Check("rate of friction, a = 0", rate.value, rate.error, 1 / row["theory"], 0.0),
        Check("self-diffusion, a = 0", row["D"], row["error"], row["theory"], 0.3 * row["theory"]),
    ]


def of_viscosity(table: pd.DataFrame) -> list[Check]:
    """Kinetic theory's viscosity within 30 %, and the same viscosity for every drive (linear response)."""
    found = []
    for repulsion, rows in table.groupby("a"):
        weak, strong = (rows.loc[index] for index in (rows["drive"].idxmin(), rows["drive"].idxmax()))
        law = f"viscosity, a = {repulsion:g}"
        found.append(Check(law, weak["viscosity"], weak["error"], weak["theory"], 0.3 * weak["theory"]))
        difference, error = strong["viscosity"] - weak["viscosity"], hypot(strong["error"], weak["error"])
        found.append(Check(f"{law}: strong minus weak drive", difference, error, 0.0, 0.0))
    return found


def of_all(temperature, pressure, structure, diffusion, rate: Estimate, viscosity) -> list[Check]:
    """All checks, from the tables of the five quantities and the friction rate."""
    found = of_temperature(temperature) + of_pressure(pressure) + of_structure(structure)
    return found + of_diffusion(diffusion, rate) + of_viscosity(viscosity)


def exact_laws_hold(table: pd.DataFrame) -> bool:
    """Whether all checks of `table_of` hold whose tolerance is nothing but the error."""
    return bool(table.loc[table["tolerance"] == 0, "holds"].all())


def table_of(checks: list[Check]) -> pd.DataFrame:
    """The checks, one per row."""
    columns = ("law", "measured", "error", "theory", "tolerance", "holds")
    return pd.DataFrame([[getattr(check, name) for name in columns] for check in checks], columns=columns)
