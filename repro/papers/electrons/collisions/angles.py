"""Angles of elastic collisions, drawn by the function that kernels call, against the law they are drawn from."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.integrate import cumulative_simpson
from scipy.stats import kstest

from repro.declared import Number
from repro.errors import require_whole
from repro.particles.random import ROUNDS, tea
from repro.pic.air import elastic
from repro.pic.air.medium import ELEMENTS, Air
from repro.pic.air.stopping import HIGHEST_ENERGY, LOWEST_ENERGY
from repro.pic.constants import REST_ENERGY

#: probability of a sample as far from the law as the one that was drawn, below which it does not follow the law
LEAST = 1e-4

_STREAM = 109


@dataclass(frozen=True)
class Angles:
    """Drawn values of 1 - cos(theta), sorted, and the law."""

    drawn: np.ndarray
    grid: np.ndarray
    #: share of collisions below each of `grid`, with Mott's factor and without
    below: np.ndarray
    rutherford: np.ndarray

    @property
    def chance(self) -> float:
        """Probability of Kolmogorov and Smirnov."""
        return float(kstest(self.drawn, lambda mu1: np.interp(mu1, self.grid, self.below)).pvalue)


def _law(tau: float, mott: bool):
    grid = np.concatenate([[0], np.geomspace(1e-11, 2, 8001)])
    density = np.zeros(len(grid))
    for element in ELEMENTS:
        factor = elastic.mott_factor(grid, tau, element) if mott else 1
        weight = element.number * (element.number + 1) * Air().atoms(element)
        density += weight * factor / (grid + 2 * elastic.screening(tau, element)) ** 2
    below = cumulative_simpson(density, x=grid, initial=0)
    return grid, below / below[-1]


def angles(energy: float, count: int, seed: int = 1) -> Angles:
    """Draw so many candidates at an energy in eV; those that Mott's factor rejects are left out."""
    Number(LOWEST_ENERGY, HIGHEST_ENERGY, "eV").check("energy of a collision", energy)
    require_whole("angles", count, 2, 10**8)
    require_whole("seed", seed, 0, 2**31 - 1)
    tau = energy / REST_ENERGY
    draw, number = elastic.make_scattering(np.float64), np.arange(count, dtype=np.uint32)
    # 32-bit sums that wrap around are what is meant
    with np.errstate(over="ignore"):
        first, second = tea(ROUNDS)(number, 0 * number, _STREAM, seed, 0)
        third, _ = tea(ROUNDS)(number, 0 * number, _STREAM, seed, 1)
    units = np.array([first, second, third], float) * 2.0**-32 + 2.0**-33
    u2 = np.float64(tau * (tau + 2))
    found = [draw(u2, *each) for each in units.T]
    grid, below = _law(tau, True)
    return Angles(np.sort([mu1 for mu1, happens in found if happens]), grid, below, _law(tau, False)[1])


def table(drawn: dict[float, Angles]) -> pd.DataFrame:
    """The angle that half of all collisions stay below by the law, the share beyond 90 degrees, the chance."""
    rows = []
    for energy, found in drawn.items():
        middle, far = np.interp(0.5, found.below, found.grid), 1 - np.interp(1, found.grid, found.below)
        rows.append((energy, np.degrees(2 * np.arcsin(np.sqrt(middle / 2))), far, found.chance))
    return pd.DataFrame(rows, columns=["energy (eV)", "half below (degrees)", "share beyond 90 degrees", "chance"])
