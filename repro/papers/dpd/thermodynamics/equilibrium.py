"""Equilibrium of the fluid: temperature, pressure and structure in a periodic box, with their errors.

Units: cutoff radius, particle mass and kT. A run is named by its parameters and a seed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from repro.dpd import exact
from repro.dpd.cases import Bulk
from repro.dpd.fluid import Fluid
from repro.dpd.observables import block_average, mean_of, pressure, radial_distribution, temperature
from repro.dpd.simulation import Simulation

#: steps between two samples; velocities decorrelate in a time of about 0.4, or 20 steps of the paper's length
EVERY = 10

#: fewest snapshots for an error from their scatter
SNAPSHOTS = 20


@dataclass(frozen=True)
class Length:
    """Side of a cubic box, number of samples, one each `EVERY` steps, and time before the first one."""

    side: float
    samples: int
    settle: float = 10.0


def settled(fluid: Fluid, length: Length, device, *, seed: int = 1) -> Simulation:
    """A fluid in a cubic box, in equilibrium."""
    simulation = Simulation(Bulk((length.side,) * 3, fluid).system(seed), device, seed=seed)
    simulation.step(max(1, round(length.settle / fluid.dt / EVERY)) * EVERY, every=EVERY)
    return simulation


def series(simulation: Simulation, quantities: dict[str, Callable], samples: int, every: int = EVERY) -> dict:
    """`samples` values of each quantity(simulation), one each `every` steps, as arrays by name."""
    rows = []
    for _ in range(samples):
        simulation.step(every, every=every)
        rows.append([quantity(simulation) for quantity in quantities.values()])
    return dict(zip(quantities, np.array(rows).T, strict=True))


def temperatures(device, steps, predictors, length: Length, *, seed: int = 1) -> pd.DataFrame:
    """kT of the paper's fluid, where 1 is set, for each lambda and time step; columns lambda, dt, kT, error."""
    rows = []
    for predictor, dt in product(predictors, steps):
        simulation = settled(Fluid(dt=dt, predictor=predictor), length, device, seed=seed)
        found = series(simulation, {"kT": temperature}, length.samples)
        rows.append((predictor, dt, *block_average(found["kT"])))
    return pd.DataFrame(rows, columns=["lambda", "dt", "kT", "error"])


def pressures(device, repulsions, densities, length: Length, *, seed: int) -> pd.DataFrame:
    """Pressure for each density and repulsion, beside Groot and Warren's rho kT + alpha a rho^2.

    The excess is p - rho kT, with the kT of the same samples, and alpha that over a rho^2, nan for a = 0.
    """
    rows = []
    for density, repulsion in product(densities, repulsions):
        simulation = settled(Fluid(density=density, repulsion=repulsion), length, device, seed=seed)
        found = series(simulation, {"kT": temperature, "p": pressure}, length.samples)
        actual = simulation.system.count / length.side**3
        excess = block_average(found["p"] - actual * found["kT"])
        fit, alpha = exact.pressure(simulation.system.fluid), excess.value / (repulsion * actual**2 or np.nan)
        rows.append((repulsion, density, found["kT"].mean(), *block_average(found["p"]), fit, *excess, alpha))
    columns = ["a", "rho", "kT", "p", "error", "fit", "excess", "excess error", "alpha"]
    return pd.DataFrame(rows, columns=columns)


def against_the_fit(table: pd.DataFrame) -> dict:
    """The paper's fluid in `pressures`, and by how many % Groot and Warren's fit is off; holds if by 5 % at most."""
    row = table[(table["a"] == Fluid.repulsion) & (table["rho"] == Fluid.density)].iloc[0]
    off = row["fit"] / row["p"] - 1
    return {"p": row["p"], "off": 100 * off, "holds": abs(off) <= 0.05}


def structure(device, repulsions, length: Length, *, largest=2.0, bins=40, every=100, seed: int = 1) -> pd.DataFrame:
    """Radial distribution function up to `largest` for each repulsion; columns a, r, g, error.

    One snapshot each `every` steps, twenty at least; the error comes from their scatter. g is divided by (N - 1) / N,
    so that an ideal gas of N particles has 1.
    """
    edges, tables = np.linspace(0, largest, bins + 1), []
    for repulsion in repulsions:
        simulation = settled(Fluid(repulsion=repulsion), length, device, seed=seed)
        system, found = simulation.system, []
        for _ in range(max(SNAPSHOTS, length.samples * EVERY // every)):
            simulation.step(every, every=every)
            found.append(radial_distribution(simulation.particles()["position"], system.box, edges))
        g, error = mean_of(np.array(found) * system.count / (system.count - 1))
        tables.append(pd.DataFrame({"a": repulsion, "r": (edges[1:] + edges[:-1]) / 2, "g": g, "error": error}))
    return pd.concat(tables, ignore_index=True)


def deviation_from_one(table: pd.DataFrame) -> float:
    """Root mean square of (g - 1) / error: about 1 where g is 1 and the errors are right.

    Bins where all snapshots agree, because no pair came that near, are left out.
    """
    rows = table[table["error"] > 0]
    return float(np.sqrt((((rows["g"] - 1) / rows["error"]) ** 2).mean()))
