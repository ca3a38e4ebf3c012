"""Water that should stay at rest: its pressure over the depth, how fast it moves, and how far its particles drift."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from repro.errors import require
from repro.papers.sph.ghosts.measures import NAMES, smoother
from repro.papers.sph.ghosts.runs import displaced
from repro.sph.cases import StillWater
from repro.sph.exact import rest_pressure
from repro.sph.ghosts import BOUNDARIES
from repro.sph.observables import Profile, beyond_walls, energy, pressure_profile
from repro.sph.simulation import Simulation
from repro.sph.stability_checks import THROUGH
from repro.sph.system import System

#: depth in smoothing lengths below which the pressure is judged, and how far it may be from theory
DEEP, PRESSURE_ERROR = 2, 0.02

#: share of the energy at the start by which it may be above it and count as kept: rounding
ENERGY_GAIN = 1e-5

#: what equation 4 is called without density diffusion, as the paper has it
PLAIN = "with ghosts, without diffusion"

#: the claim that particles at the boundary are more stable with ghosts, and how often sound must cross the water for it
CLAIM, CROSSINGS = "sph-051", 20

#: looks at a run, and from which share of its duration pressures are averaged over them
LOOKS, AVERAGED = 40, 0.5


@dataclass(frozen=True)
class Run:
    """Water that was looked at now and then."""

    case: StillWater
    system: System
    #: one row a look, see `rest`
    table: pd.DataFrame
    #: mean pressure in layers of one spacing over the later looks
    profile: Profile

    @property
    def depth(self) -> np.ndarray:
        """Depth of the layers in m below the surface at the start."""
        return self.system.depth - self.profile.height

    @property
    def errors(self) -> np.ndarray:
        """Relative differences of the pressure from theory, NaN above `DEEP` smoothing lengths."""
        theory = rest_pressure(self.depth, self.system.fluid)
        deep = self.depth > DEEP * self.system.resolution.smoothing_length
        return np.where(deep, self.profile.pressure / np.where(deep, theory, 1) - 1, np.nan)

    @property
    def gain(self) -> float:
        """By how much the total energy was ever above that at the start, over it."""
        total = self.table["energy"]
        return float(total.max() / total.iloc[0] - 1)

    @property
    def error(self) -> float:
        """The largest of them, NaN if no layer is so deep."""
        found = np.abs(self.errors)
        return float(np.nanmax(found)) if np.isfinite(found).any() else float("nan")


def rest(case: StillWater, device, seconds: float, boundary: str = "ghosts", seed: int | None = None) -> Run:
    """Let water stand for so many seconds, from its lattice or one that a seed disturbs a little.

    Columns of the table: time (s), energy (J, total), speed (root mean square, m/s), drift and worst (root mean square
    and largest distance of particles from where they began, in spacings), settled (how far the mean height has sunk, in
    spacings), beyond (spacings by which the worst particle is beyond a wall).
    """
    system = case.system() if seed is None else displaced(case.system(), seed)
    simulation, rows, profiles = Simulation(system, device, boundary=boundary), [], []
    simulation.start()
    for time in np.linspace(0, seconds, LOOKS + 1):
        simulation.step(max(0, round(time / system.dt) - simulation.steps))
        particles = simulation.particles()
        rows.append({"time": simulation.steps * system.dt, **_look(particles, system)})
        if time >= AVERAGED * seconds:
            profiles.append(pressure_profile(particles, system))
    return Run(case, system, pd.DataFrame(rows), _mean(profiles, system))


def _look(particles, system: System) -> dict:
    spacing, mass = system.resolution.spacing, system.count * system.mass
    moved = (particles["position"] - system.position) / spacing
    distance = np.linalg.norm(moved, axis=1)
    found = energy(particles, system)
    return {
        "energy": found.total,
        "speed": float(np.sqrt(2 * found.kinetic / mass)),
        "drift": float(np.sqrt(np.mean(distance**2))),
        "worst": float(distance.max()),
        "settled": float(-moved[:, 2].mean()),
        "beyond": float(beyond_walls(particles, system).max()),
    }


def _mean(profiles: list[Profile], system: System) -> Profile:
    """The mean over looks, each particle with the same weight, layer by layer."""
    every = [np.concatenate(parts) for parts in zip(*profiles, strict=True)]
    layer = np.maximum(every[0] / system.resolution.spacing, 0).astype(int)
    count = np.bincount(layer, every[1])
    held = count > 0
    height, pressure = (np.bincount(layer, every[1] * part)[held] / count[held] for part in (every[0], every[2]))
    return Profile(height, count[held], pressure)


def boundaries(case: StillWater, device, seconds: float) -> dict[str, Run]:
    """The same water with each treatment of the boundaries, by its name in NAMES, and with ghosts as PLAIN.

    Raises InputError unless a layer lies below `DEEP` smoothing lengths, where the pressure is judged.
    """
    least = int(DEEP * case.resolution.ratio + 0.5) + 1
    shallow = f"column = {case.column}: no layer lies {DEEP} smoothing lengths deep: choose {least} layers"
    require(case.column[2] >= least, shallow)
    plain = replace(case, fluid=replace(case.fluid, diffusion=0.0))
    found = {NAMES[name]: rest(case, device, seconds, boundary=name) for name in BOUNDARIES}
    return found | {PLAIN: rest(plain, device, seconds)}


def summary(runs: dict[str, Run]) -> pd.DataFrame:
    """The end of each run, one row each: error of the pressure below DEEP smoothing lengths (%), drifts, speed."""
    rows = []
    for name, run in runs.items():
        last = run.table.iloc[-1]
        row = {"boundary": name, "pressure error (%)": 100 * run.error, "energy gained (%)": 100 * run.gain}
        row |= {"speed (mm/s)": 1000 * last["speed"], "drift (spacings)": last["drift"]}
        row |= {"largest drift (spacings)": last["worst"], "settled (spacings)": last["settled"]}
        rows.append(row | {"beyond a wall (spacings)": max(run.table["beyond"].max(), 0.0)})
    return pd.DataFrame(rows)


def bottom_pressure(case: StillWater) -> dict:
    """Depth in m, theory's pressure at the bottom in kPa, and by how many % it is above rho0 g H; holds if it is."""
    system, fluid = case.system(), case.fluid
    bottom = float(rest_pressure(system.depth, fluid))
    more = bottom / (fluid.density * fluid.gravity * system.depth) - 1
    return {"depth": system.depth, "bottom": bottom / 1000, "more": 100 * more, "holds": more > 0}


def unrest(run: Run) -> dict:
    """Speeds in mm/s in the middle and at the end of a run; holds if the water did not come to rest."""
    speed = 1000 * run.table["speed"]
    half, last = float(speed.iloc[len(speed) // 2]), float(speed.iloc[-1])
    return {"half": half, "last": last, "holds": last >= half}


def stays(run: Run) -> dict:
    """How far the worst particle went, in spacings; holds if less than one, and none went through a wall."""
    worst = float(run.table["worst"].iloc[-1])
    return {"worst": worst, "holds": worst < 1 and bool(run.table["beyond"].max() <= THROUGH)}


def repeated(case: StillWater, device, seconds: float, seeds) -> dict[str, list[float]]:
    """Errors of the pressure with ghosts and without, each a list over lattices that `seeds` disturb a little."""
    pair = ("ghosts", "none")
    return {NAMES[name]: [rest(case, device, seconds, name, seed).error for seed in seeds] for name in pair}


def record_claim(record, errors: dict[str, list[float]], case: StillWater, seconds: float) -> None:
    """Give the notebook's `record` the claim on water at the boundaries, if it had the time to show itself."""
    crossings = seconds * case.fluid.sound_speed / case.system().depth
    if crossings < CROSSINGS:
        record.not_measured(CLAIM, f"sound crosses the water {crossings:.0f} times only")
    else:
        record.measure(CLAIM, errors, note="largest error of the pressure over theory, one value a seed")


def better(errors: dict[str, list[float]]) -> dict:
    """Mean errors of `repeated` in % with ghosts and without, and their ratio; holds if no seed says otherwise."""
    ours, others = (np.array(errors[NAMES[name]]) for name in ("ghosts", "none"))
    return smoother(100 * ours, 100 * others) | {"times": others.mean() / ours.mean()}


def settings(case: StillWater) -> pd.DataFrame:
    """What the solver takes where the paper states nothing, one row each: quantity, value, unit."""
    system, resolution = case.system(), case.resolution
    rows = [
        ("smoothing kernel", case.kernel, ""),
        ("smoothing length h", resolution.ratio, "spacings"),
        ("radius of its support", resolution.smoothing_kernel.support, "h"),
        ("artificial viscosity alpha", case.fluid.viscosity, ""),
        ("density diffusion delta", case.fluid.diffusion, ""),
        ("Courant factor c dt / h", system.dt * case.fluid.sound_speed / resolution.smoothing_length, ""),
        ("mass of a particle over rho0 spacing^3", system.mass / case.fluid.density / case.spacing**3, ""),
    ]
    return pd.DataFrame(rows, columns=["quantity", "value", "unit"]).astype({"value": str})
