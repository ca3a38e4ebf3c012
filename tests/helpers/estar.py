"""NIST's ESTAR table of dry air, in the units of the solver."""

import csv
from pathlib import Path

import numpy as np

from repro.pic.constants import REST_ENERGY

_FILE = Path(__file__).resolve().parents[2] / "data" / "reference" / "estar_air_dry.csv"


def table() -> dict[str, np.ndarray]:
    """The columns by their names, and `tau`, the energy in m c^2."""
    with _FILE.open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    columns = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    return columns | {"tau": columns["kinetic_energy_MeV"] * 1e6 / REST_ENERGY}


def half_a_digit(values: np.ndarray) -> np.ndarray:
    """Half a unit of the last of the four digits with which the table prints its values."""
    return 0.5 * 10 ** (np.floor(np.log10(values)) - 3)


def per_mass(stopping, density: float):
    """A stopping power in m c^2 per metre as MeV cm2/g."""
    return stopping * REST_ENERGY / 1e5 / density
