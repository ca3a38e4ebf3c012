"""Electrons followed through air, against NIST's tables: energy lost per path, free paths and ranges."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.integrate import cumulative_trapezoid

from repro.errors import require, require_whole
from repro.pic.air import bremsstrahlung, elastic, ionisation
from repro.pic.air.collision_tables import Collisions
from repro.pic.air.infinite_air import fly
from repro.pic.air.medium import Air
from repro.pic.constants import REST_ENERGY

#: by how much the stopping power and the range may be off in %, and free paths in standard deviations
STOPPING_ERROR, RANGE_ERROR, DEVIATIONS = 3, 5, 4

#: share of their energy that electrons lose while the stopping power is measured
LOST = 0.05


@dataclass(frozen=True)
class Reference:
    """ESTAR's table of dry air, for energies in eV."""

    rows: pd.DataFrame
    air: Air

    def stopping(self, energy, column: str = "total") -> np.ndarray:
        """Stopping power in MeV cm2/g: "collision", "radiative" or "total", between the table's energies on logs."""
        return self._between(energy, f"{column}_MeV_cm2_g")

    def range(self, energy) -> np.ndarray:
        """CSDA range in m."""
        return 10 * self._between(energy, "csda_range_g_cm2") / self.air.density

    def _between(self, energy, column):
        known = np.log(1e6 * self.rows["kinetic_energy_MeV"])
        return np.exp(np.interp(np.log(energy), known, np.log(self.rows[column])))


def named(energy: float) -> str:
    """An energy in eV as one writes it: 10 keV, 2.5 MeV."""
    return f"{energy / 1e6:g} MeV" if energy >= 1e6 else f"{energy / 1e3:g} keV"


def reference(data: Path, air: Air) -> Reference:
    """The table in the folder data/."""
    return Reference(pd.read_csv(data / "reference" / "estar_air_dry.csv", comment="#"), air)


def _same(energy: float, count: int) -> np.ndarray:
    """So many energies."""
    require_whole(f"electrons of {energy:g} eV", count, 2, 10**9)
    return np.full(count, energy)


def stopping_powers(collisions: Collisions, energies, counts, listed: Reference, device, **options) -> pd.DataFrame:
    """Energy that electrons lose per path, one row for each energy in eV, of which there are as many as `counts` says.

    They begin half of `LOST` above the energy, and fly until they are about as far below. In MeV cm2/g, the table's at
    the mean energy on the way; error and scatter (the standard deviation of the mean) are relative.
    """
    require(len(energies) == len(counts), f"{len(energies)} energies and {len(counts)} counts: must be as many")
    air, rows = collisions.air, []
    for energy, count in zip(energies, counts, strict=True):
        collisions.require_energies([energy])
        length = LOST * energy / (1e5 * air.density * listed.stopping(energy))
        start = (1 + LOST / 2) * energy
        found = fly(collisions, _same(start, count), device, length=length, **options)
        lost, path = start - found["energy"], found["path"].sum(dtype=float)
        measured = lost.sum() / path / (1e5 * air.density)
        table = float(listed.stopping(start - lost.mean() / 2))
        scatter = lost.std() / lost.mean() / np.sqrt(count)
        rows.append((energy, measured, table, measured / table - 1, scatter, int(found["collisions"].sum())))
    return pd.DataFrame(rows, columns=["energy", "measured", "table", "error", "scatter", "collisions"])


def within(errors: pd.Series, limit: float) -> dict:
    """The largest of some errors, whatever their signs; holds if it is `limit` at most."""
    worst = float(errors.abs().max())
    return {"worst": worst, "holds": worst <= limit}


def cross_section(collisions: Collisions, energy) -> np.ndarray:
    """Macroscopic cross-section in 1/m of all events at an energy in eV."""
    tau, cut, air = energy / REST_ENERGY, collisions.cut / REST_ENERGY, collisions.air
    events = ionisation.cross_section(tau, cut, air) + bremsstrahlung.cross_section(tau, cut, air)
    return elastic.cross_section(tau, air) + events


def free_paths(collisions: Collisions, energy: float, count: int, device, **options) -> np.ndarray:
    """Paths to the first collision in m, sorted; of electrons that had none within twelve mean ones there is none."""
    length = 12 / cross_section(collisions, energy)
    first = fly(collisions, _same(energy, count), device, length=length, **options)["first"].astype(float)
    return np.sort(first[first > 0])


def optical_depth(collisions: Collisions, energy: float, path) -> np.ndarray:
    """Integral of Sigma over a path in m of an electron that begins with an energy in eV and loses continuously."""
    # the energies on the way down to where it would be slow, or to a tenth
    ends = np.linspace(1, max(0.1, collisions.stop / energy), 4001) * energy
    stopping = collisions.restricted_stopping(ends / REST_ENERGY) * REST_ENERGY
    flown = cumulative_trapezoid(1 / stopping, -ends, initial=0)
    depth = cumulative_trapezoid(cross_section(collisions, ends) / stopping, -ends, initial=0)
    return np.interp(path, flown, depth)


def mean_free_paths(collisions: Collisions, paths: dict[float, np.ndarray]) -> pd.DataFrame:
    """Mean free paths in m at each energy in eV against the formula, 1 / Sigma at the first energy.

    The mean optical depth of the paths should be 1, as Sigma grows on the way; its deviation in standard deviations.
    """
    rows = []
    for energy, free in paths.items():
        depth = optical_depth(collisions, energy, free).mean()
        formula = 1 / float(cross_section(collisions, energy))
        rows.append((energy, free.mean(), formula, depth, (depth - 1) * np.sqrt(len(free))))
    return pd.DataFrame(rows, columns=["energy", "measured", "formula", "depth", "deviation"])


def ranges(collisions: Collisions, energies, count: int, device, **options) -> dict[float, dict[str, np.ndarray]]:
    """What `infinite_air.fly` returns of electrons that are followed until they are slow, for each energy in eV."""
    return {energy: fly(collisions, _same(energy, count), device, **options) for energy in energies}


def range_table(found: dict[float, dict[str, np.ndarray]], listed: Reference) -> pd.DataFrame:
    """Mean paths against the table's ranges in m, one row an energy in eV.

    Spread is the standard deviation of the path over its mean, depth the mean distance along the first direction over
    the range, elastic counts collisions an electron.
    """
    rows = []
    for energy, each in found.items():
        path, reach = each["path"].mean(dtype=float), float(listed.range(energy))
        spread, depth = each["path"].std(dtype=float) / path, each["place"][:, 0].mean(dtype=float) / reach
        rows.append((energy, path, reach, path / reach - 1, spread, depth, each["collisions"][:, 0].mean()))
    return pd.DataFrame(rows, columns=["energy", "path", "range", "error", "spread", "depth", "elastic"])
