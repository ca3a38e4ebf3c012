"""Transport coefficients of the fluid: self-diffusion and viscosity, each with its error; see `equilibrium`."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from repro.dpd import exact
from repro.dpd.averages import Averages
from repro.dpd.cases import Bulk
from repro.dpd.fluid import Fluid
from repro.dpd.observables import Estimate, mean_of, nearest_move, reverse_viscosity
from repro.dpd.simulation import Simulation
from repro.dpd.system import in_cell_order
from repro.papers.dpd.flow.flows import SETTLED, relaxation_time

from .equilibrium import EVERY, Length, series, settled


def square_displacements(simulation: Simulation, frames: int, every: int = EVERY) -> tuple[np.ndarray, np.ndarray]:
    """Times from now on, and mean square displacements, in `frames` frames, one each `every` steps."""
    before = simulation.particles()["position"]
    moved, squares = np.zeros_like(before), []
    for _ in range(frames):
        simulation.step(every, every=every)
        last, before = before, simulation.particles()["position"]
        moved += nearest_move(before, last, simulation.system.box)
        squares.append((moved**2).sum(1).mean())
    return np.arange(1, frames + 1) * every * simulation.system.fluid.dt, np.array(squares)


def diffusions(device, repulsions, length: Length, *, span: float, origins: int, seed: int):
    """Self-diffusion for each repulsion, and the mean square displacements over time that it comes from.

    From the slope over the second half of `span`, long after velocities have decorrelated, for `origins` consecutive
    time origins. Returns two tables, with columns (a, D, error, theory) and (a, t, square, error).
    """
    rows, curves = [], []
    for repulsion in repulsions:
        fluid = Fluid(repulsion=repulsion)
        simulation = settled(fluid, length, device, seed=seed)
        runs = [square_displacements(simulation, round(span / fluid.dt / EVERY)) for _ in range(origins)]
        time, late = runs[0][0], runs[0][0] > span / 2
        found = mean_of([np.polyfit(time[late], square[late], 1)[0] / 6 for _, square in runs])
        rows.append((repulsion, *found, exact.self_diffusion(fluid)))
        square, error = mean_of([square for _, square in runs])
        curves.append(pd.DataFrame({"a": repulsion, "t": time, "square": square, "error": error}))
    return pd.DataFrame(rows, columns=["a", "D", "error", "theory"]), pd.concat(curves, ignore_index=True)


def friction_rate(device, length: Length, *, seed: int, states=8) -> Estimate:
    """The friction rate -<f . v> / <v . v> of a velocity in an ideal gas (a = 0): kT / D of kinetic theory.

    Exact where positions and velocities are independent, as they are at the start: from the forces on `states` gases
    at random. A long time step makes the noise, which averages to zero, small.
    """
    found, case = [], Bulk((length.side,) * 3, Fluid(repulsion=0.0, dt=1.0))
    for state in range(seed, seed + states):
        simulation = Simulation(case.system(state), device, seed=state)
        simulation.start()
        v, force = (simulation.particles()[name].astype(float) for name in ("velocity", "force"))
        found.append(-(force * v).sum() / (v**2).sum())
    return mean_of(found)


def against_theory(table: pd.DataFrame, rate: Estimate) -> dict:
    """By how many % D is off kinetic theory at a = 0, and the rate of friction; holds if that is right, being exact."""
    ideal = table[table["a"] == 0].iloc[0]
    exact, holds = 1 / ideal["theory"], abs(rate.value - 1 / ideal["theory"]) <= 3 * rate.error
    return {"off": 100 * (ideal["D"] * exact - 1), "rate": rate.value, "exact": exact, "holds": holds}


def velocity_memory(device, length: Length, *, origins: int, seed: int, last=1.0) -> pd.DataFrame:
    """Velocity autocorrelation <v(0) . v(t)> / <v . v> of an ideal gas (a = 0); columns t, memory, error."""
    every, dt = 5, 0.005
    simulation = settled(Fluid(repulsion=0.0, dt=dt), length, device, seed=seed)
    frames, runs = round(last / dt / every), []
    for _ in range(origins):
        first = simulation.particles()["velocity"]
        overlap = {"memory": lambda now, first=first: (first * now.particles()["velocity"]).mean() / (first**2).mean()}
        runs.append(series(simulation, overlap, frames, every)["memory"])
    memory, error = mean_of(runs)
    return pd.DataFrame({"t": np.arange(1, frames + 1) * every * dt, "memory": memory, "error": error})


@dataclass(frozen=True)
class Reverse:
    """Reverse Poiseuille flow: a force along x in the lower half of the box and against x in the upper half.

    Times are in relaxation times, in which the slowest mode decays to 1/e: blocks of four are almost independent.
    """

    box: tuple[float, float, float]
    blocks: int = 10
    block: float = SETTLED
    settle: float = SETTLED

    def steps(self, fluid: Fluid, relaxations: float) -> int:
        """Steps, a multiple of `EVERY`, for a number of relaxation times."""
        relaxation = relaxation_time(self.box[2] / 2, fluid)
        return max(1, round(relaxations * relaxation / fluid.dt / EVERY)) * EVERY


def reverse_flow(device, fluid: Fluid, drive: float, flow: Reverse, *, seed: int = 1, **options):
    """Viscosity, its error from blocks of time, and the profile as a table with columns z, velocity, error, fit."""
    system = in_cell_order(Bulk(tuple(flow.box), fluid, drive).system(seed))
    simulation = Simulation(system, device, seed=seed, **options)
    simulation.step(flow.steps(fluid, flow.settle), every=EVERY)
    # bins of half a cutoff radius or a little more, as many in either half
    averages, fields = Averages(simulation, rows=2 * int(flow.box[2])), []
    for _ in range(flow.blocks):
        simulation.step(flow.steps(fluid, flow.block), every=EVERY, observers=(averages,))
        fields.append(averages.take())
    found = mean_of([reverse_viscosity(field, system).value for field in fields])
    velocity, error = mean_of([field.velocity_x[0] for field in fields])
    z, density = fields[0].z, system.count / float(np.prod(system.box))
    fit = reverse_profile(z, system.box[2], density * drive / found.value)
    return found, pd.DataFrame({"z": z, "velocity": velocity, "error": error, "fit": fit})


def reverse_profile(z, side: float, ratio: float) -> np.ndarray:
    """A parabola in the lower half of a box, its negative in the upper; `ratio` is density * drive / viscosity."""
    half, lower = side / 2, np.asarray(z) < side / 2
    return np.where(lower, 1.0, -1.0) * exact.poiseuille(np.where(lower, z, z - half), half, ratio, 1.0, 1.0)


def viscosities(device, repulsions, drives, flow: Reverse, *, seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Viscosity for each repulsion and drive: columns a, drive, viscosity, error, theory, fastest; and the profiles.

    `fastest` is the largest velocity of the parabola; far below the speed of sound the response must be linear.
    """
    rows, profiles = [], []
    for repulsion, drive in product(repulsions, drives):
        fluid = Fluid(repulsion=repulsion)
        found, profile = reverse_flow(device, fluid, drive, flow, seed=seed)
        rows.append((repulsion, drive, *found, exact.viscosity(fluid), float(profile["fit"].max())))
        profiles.append(profile.assign(a=repulsion, drive=drive))
    columns = ["a", "drive", "viscosity", "error", "theory", "fastest"]
    return pd.DataFrame(rows, columns=columns), pd.concat(profiles, ignore_index=True)
