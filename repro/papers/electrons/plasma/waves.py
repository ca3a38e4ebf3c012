"""Waves in a cold plasma, by the whole loop: how fast they oscillate, and what becomes of their energy."""

import warnings
from dataclasses import dataclass, replace
from math import ceil, pi, prod

import numpy as np
import pandas as pd

from repro.declared import Number
from repro.errors import require_whole
from repro.parallel import require_room
from repro.pic import exact
from repro.pic.cases import DRAWN, weight_of
from repro.pic.constants import LIGHT, SMALLEST
from repro.pic.maxwell.fields import courant_limit
from repro.pic.mesh import Mesh
from repro.pic.observables import field_energy, kinetic_energy
from repro.pic.simulation import Simulation
from repro.pic.system import Electrons, System

#: how far a frequency may be from omega_p, and an energy from that at the start
FREQUENCY_ERROR, ENERGY_DRIFT = 0.005, 1e-3

#: by how much of it a frequency may be off the scheme's own theory
THEORY = 1e-4

#: side of a cell in m, and the time step as a share of the longest one
SPACING, COURANT = 1e-3, 0.9


def cold_plasma(mesh: Mesh, dt: float, place, momentum, frequency: float, name: str) -> System:
    """Electrons at even distances, with the plasma frequency `frequency` in 1/s."""
    electrons = Electrons(place, momentum, np.full(len(place), weight_of(mesh, frequency, len(place))))
    with warnings.catch_warnings():
        # the Debye length of cold electrons is not resolved, and there is no heat that could grow from it in so even
        # an order
        warnings.simplefilter("ignore", UserWarning)
        return System(mesh, dt, electrons, name=name)


@dataclass(frozen=True)
class Wave:
    """A standing wave in a box that is periodic, in electrons that are cold and evenly spaced."""

    #: cells of a wavelength along each axis of its direction, and wavelengths in the box along the first
    cells: int
    mode: int = 1
    #: along x, or along the diagonal of x and y
    diagonal: bool = False
    #: particles of a cell along each axis of its direction
    each: int = 4
    #: omega_p times the time step
    turn: float = 0.1
    #: largest momentum over m c
    amplitude: float = 1e-5

    @property
    def mesh(self) -> Mesh:
        """The box."""
        require_whole("cells of a wavelength", self.cells, 2, 65535)
        require_whole("mode", self.mode, 1, 65535)
        side = self.cells * self.mode
        return Mesh((side, side if self.diagonal else 1, 1), (SPACING,) * 3)

    @property
    def direction(self) -> np.ndarray:
        """Of the wave."""
        return np.array([1.0, 1.0, 0.0]) / np.sqrt(2) if self.diagonal else np.array([1.0, 0.0, 0.0])

    def phase(self, place) -> np.ndarray:
        """Of the wave at places in m, (..., 3)."""
        along = place[..., 0] + place[..., 1] if self.diagonal else place[..., 0]
        return 2 * pi * along / (self.cells * SPACING)

    def system(self) -> System:
        """The electrons at the start, at rest but for the wave."""
        mesh = self.mesh
        Number(SMALLEST).check("turn", self.turn)
        dt = COURANT * courant_limit(mesh)
        counts = [cells * self.each if cells > 1 else 1 for cells in mesh.shape]
        require_room(prod(counts), DRAWN)
        axes = [(np.arange(n) + 0.5) / (self.each if n > 1 else 1) for n in counts]
        place = SPACING * np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
        # along x all electrons of a cell are in the same field: what they differ by at first would never come back
        seen = place if self.diagonal else (np.floor(place / SPACING) + 0.5) * SPACING
        momentum = self.amplitude * np.sin(self.phase(seen))[:, None] * self.direction
        return cold_plasma(mesh, dt, place, momentum, self.turn / dt, "cold wave")

    @property
    def theory(self) -> float:
        """The frequency over omega_p that the scheme should have."""
        share = exact.mesh_share(2 * pi / self.cells, self.each) if self.diagonal else 1.0
        return exact.leapfrog_frequency(np.sqrt(share) * self.turn, 1.0) / self.turn


def oscillation(wave: Wave, periods: float, device, precision: str = "double", every: int = 1) -> pd.DataFrame:
    """E in V/m along a wave, projected on it, and the energies in J, each `every` steps for so many periods."""
    # a frequency is that of a period at least, and so is a mean energy
    Number(1, 1e6).check("periods", periods)
    system = wave.system()
    simulation, mesh = Simulation(system, device, precision=precision), system.mesh
    shapes = [np.sin(wave.phase(_edges(mesh, axis))) * wave.direction[axis] for axis in range(3)]
    rows, steps = [], ceil(periods * 2 * pi / wave.turn)
    for step in range(every, steps + every, every):
        simulation.step(every)
        fields, particles = simulation.fields.on_host(), simulation.particles()
        inner = fields["electric"][:, :-1, :-1, :-1]
        field = 2 * sum((inner[axis] * shapes[axis]).mean() for axis in range(3))
        energies = field_energy(mesh, system.dt, **fields), kinetic_energy(particles["momentum"], particles["weight"])
        rows.append((step * wave.turn / (2 * pi), field, *energies))
    return pd.DataFrame(rows, columns=["periods", "field", "electric", "kinetic"])


def _edges(mesh: Mesh, axis: int) -> np.ndarray:
    """Where the components of E along an axis stand, (nz, ny, nx, 3)."""
    half = [0.5 if k == axis else 0.0 for k in range(3)]
    axes = [(np.arange(cells) + half[k]) * mesh.spacing[k] for k, cells in enumerate(mesh.shape)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).transpose(2, 1, 0, 3)


def frequency(table: pd.DataFrame) -> float:
    """The frequency over omega_p, from where the field passes through zero."""
    field, time = table["field"].to_numpy(), table["periods"].to_numpy()
    before = np.flatnonzero(field[:-1] * field[1:] < 0)
    share = field[before] / (field[before] - field[before + 1])
    zeros = time[before] + share * np.diff(time)[0]
    return (len(zeros) - 1) / 2 / (zeros[-1] - zeros[0])


def frequencies(waves: list[Wave], periods: float, device) -> pd.DataFrame:
    """The frequency of each wave in double precision, beside omega_p and the scheme's own theory."""
    rows = []
    for wave in waves:
        found = frequency(oscillation(wave, periods, device))
        row = {"direction": "diagonal" if wave.diagonal else "x", "cells a wavelength": wave.cells}
        row |= {"wavelengths": wave.mode, "omega_p dt": wave.turn, "density (1/m^3)": wave.system().density}
        row |= {"omega / omega_p": found, "theory": wave.theory, "deviation (%)": 100 * (found - 1)}
        rows.append(row | {"from theory (%)": 100 * (found / wave.theory - 1)})
    return pd.DataFrame(rows)


def along_an_axis(table: pd.DataFrame) -> dict:
    """The largest deviation of waves along an axis in %, of `frequencies`; holds if it is small."""
    off = table.loc[table["direction"] == "x", "deviation (%)"].abs().max()
    return {"off": float(off), "holds": off <= 100 * FREQUENCY_ERROR}


def coarsest_oblique(table: pd.DataFrame) -> dict:
    """The deviation in % of the oblique wave with the fewest cells, and these; holds if it is too large."""
    row = table[table["direction"] != "x"].sort_values("cells a wavelength").iloc[0]
    off = float(row["deviation (%)"])
    return {"off": off, "cells": int(row["cells a wavelength"]), "holds": abs(off) > 100 * FREQUENCY_ERROR}


def drift(table: pd.DataFrame) -> pd.Series:
    """The total energy over that of the first period, as running means over a period; index by periods."""
    total = table["electric"] + table["kinetic"]
    width = int(np.searchsorted(table["periods"], 1.0)) + 1
    mean = total.rolling(width).mean().iloc[width - 1 :]
    return pd.Series((mean / mean.iloc[0] - 1).to_numpy(), index=table["periods"].iloc[width - 1 :].to_numpy())


def energies(swings, periods: float, device) -> dict[tuple[float, str], pd.DataFrame]:
    """`oscillation` of waves of 16 cells along x in both precisions, for each swing of the electrons in cells."""
    found = {}
    for swing in swings:
        wave = Wave(16)
        # an electron swings by u c / omega_p, which is over the way of light in a step, in cells
        wave = replace(wave, amplitude=swing * wave.turn / (LIGHT * wave.system().dt / SPACING))
        for precision in ("double", "single"):
            found[swing, precision] = oscillation(wave, periods, device, precision, every=5)
    return found


def energy_table(runs: dict) -> pd.DataFrame:
    """How far the mean energy of a period drifts from the first one's, and how far it swings, of each of `energies`."""
    rows = []
    for (swing, precision), table in runs.items():
        total = table["electric"] + table["kinetic"]
        row = {"swing (cells)": swing, "precision": precision, "periods": table["periods"].iloc[-1]}
        rows.append(row | {"drift": drift(table).abs().max(), "spread": float(total.max() / total.min() - 1)})
    return pd.DataFrame(rows)


def faces_matter(table: pd.DataFrame) -> dict:
    """Energy drifts of `energy_table` of the smallest and the largest swing; holds if only the first is kept."""
    swing = table["swing (cells)"]
    small, large = (float(table.loc[swing == size, "drift"].max()) for size in (swing.min(), swing.max()))
    return {"small": small, "large": large, "holds": small <= ENERGY_DRIFT < large}
