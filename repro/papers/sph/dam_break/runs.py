"""A column of water that collapses (figure 8): what is measured of it over time, fronts, energies and surfaces."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pandas as pd

from repro.papers.orders import observed_order
from repro.papers.sph.machines import label
from repro.sph.cases import DamBreak
from repro.sph.observables import advance, beyond_walls, energy, front, reduced_time
from repro.sph.simulation import Simulation
from repro.sph.stability_checks import THROUGH
from repro.sph.surface import Surface, reconstruct
from repro.sph.system import System

#: looks at a front while it runs
LOOKS = 80

#: t* after which a front has met the far wall of a tank four columns long
FRONT_ENDS = 3.4

#: kinematic viscosity of water at 20 degrees in m2/s
WATER_VISCOSITY = 1.0e-6

#: share of the sound speed that a fall through the column should have, by Becker and Teschner (2007)
FALL_OVER_SOUND = 0.1

#: by how much of the energy at the start a total may grow between two looks and count as kept: rounding
ENERGY_GAIN = 1e-5

#: by how much of the column's volume the water's may change and count as kept
VOLUME_CHANGE = 0.03

#: speed in m/s below which a particle at the lid hangs there: water that turns back is as slow for 0.02 s
SLOW = 0.1


@dataclass(frozen=True)
class Run:
    """A run that was looked at now and then."""

    case: DamBreak
    system: System
    #: one row a look, see `follow`
    table: pd.DataFrame
    #: positions of the particles in m at the looks that were kept, and these looks' numbers
    positions: list[np.ndarray]
    kept: list[int]
    simulation: Simulation


def follow(case: DamBreak, device, times, kept=None) -> Run:
    """Run a dam break and look at it at `times` in s, each at the nearest step; positions are kept at those in `kept`.

    Columns: time (s), reduced (t*), front (Z, over the column's width), kinetic, potential, internal, total (J),
    dissipated (J, since the first look), beyond (spacings by which the worst particle is beyond a wall), lost (how many
    are by half a spacing and more), hanging (how many lie within a support of the lid and are SLOW).
    """
    system = case.system()
    simulation, rows, positions, numbers = Simulation(system, device), [], [], []
    simulation.start()
    for number, time in enumerate(times):
        simulation.step(max(0, round(time / system.dt) - simulation.steps))
        particles = simulation.particles()
        rows.append({"time": simulation.steps * system.dt, **_look(particles, system, case.width)})
        if kept is None or time in kept:
            positions.append(particles["position"])
            numbers.append(number)
    table = pd.DataFrame(rows)
    table.insert(1, "reduced", reduced_time(table["time"], case.width, case.fluid.gravity))
    table["dissipated"] = table["total"].iloc[0] - table["total"]
    return Run(case, system, table, positions, numbers, simulation)


def _look(particles, system: System, width: float) -> dict:
    beyond = beyond_walls(particles, system)
    found, slow = energy(particles, system), np.linalg.norm(particles["velocity"], axis=1) < SLOW
    below = system.tank[2] - particles["position"][slow, 2]
    return {
        "front": front(particles, system) / width,
        **found._asdict(),
        "total": found.total,
        "beyond": float(beyond.max()),
        "lost": int((beyond > THROUGH).sum()),
        "hanging": int((below < system.resolution.support).sum()),
    }


def fronts(columns, device) -> dict[int, Run]:
    """Columns (along x, y, z) that collapse until the front has met the far wall, by their number of particles."""
    runs = [_to_the_wall(DamBreak(column=tuple(column)), device) for column in columns]
    return {run.system.count: run for run in runs}


def _to_the_wall(case: DamBreak, device) -> Run:
    times = np.linspace(0, FRONT_ENDS, LOOKS + 1) * np.sqrt(case.width / (2 * case.fluid.gravity))
    return follow(case, device, times)


def compared(column, devices) -> pd.DataFrame:
    """A column on two devices until its front has met the far wall: both fronts, and whether all bits are the same."""
    case = DamBreak(column=tuple(column))
    one, other = (_to_the_wall(case, device) for device in devices)
    table = one.table[["reduced"]].copy()
    for run, device in zip((one, other), devices, strict=True):
        table[label(device)] = run.table["front"]
    return table.assign(**{"same bits": list(map(np.array_equal, one.positions, other.positions))})


def advances(runs: dict[int, Run], experiments: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Slope, arrival and spacings a width of each front, and those of the experiments (t_star, z) by the same rule."""
    rows = []
    for count, run in runs.items():
        found = advance(run.table["reduced"], run.table["front"])
        rows.append((f"{count} particles", run.case.column[0], *found))
    for name, points in experiments.items():
        rows.append((name, None, *advance(points["t_star"], points["z"])))
    return pd.DataFrame(rows, columns=["front", "spacings", "slope", "arrival"]).astype({"spacings": "Int64"})


def convergence(table: pd.DataFrame) -> dict:
    """The order with which the arrivals of `advances` converge, and to which t*, by the three finest resolutions.

    Richardson's extrapolation: with the error C d^n of a spacing d, the ratio of the two changes gives n. Holds if the
    changes have one sign and become smaller; NaN otherwise, or if there are less than three.
    """
    rows = table[table["spacings"].notna()].sort_values("spacings").dropna(subset=["arrival"])[-3:]
    width, arrival, order = rows["spacings"].to_numpy(float), rows["arrival"].to_numpy(float), 0.0
    changes = np.diff(arrival)
    if len(rows) == 3:
        order = observed_order(width, changes[0] / changes[1])
    if not order:
        return {"order": float("nan"), "limit": float("nan"), "holds": False}
    errors = width**-order
    limit = arrival[2] - changes[1] / np.diff(errors)[1] * errors[2]
    return {"order": order, "limit": float(limit), "holds": True}


def away(table: pd.DataFrame) -> dict:
    """By how much the earliest experiment is later than the limit of `convergence`, as t*.

    Holds if the limit is farther from the experiments than the finest run: resolution is not what is missing.
    """
    found, first = convergence(table), table.loc[table["spacings"].isna(), "arrival"].min()
    farther = first - found["limit"] > first - _finest(table)["arrival"] > 0
    return {"later": float(first - found["limit"]), "holds": bool(found["holds"] and farther)}


def friction(table: pd.DataFrame, case: DamBreak) -> dict:
    """What walls would do that hold the water: by Z = 3 viscosity reaches sqrt(nu t) in mm into it, water's and ours.

    Ours is that of alpha on the lattice, alpha h c / 20 (`Fluid.viscosity`); `spacing` in mm. Holds if a spacing of the
    finest run is thicker than the layer of water.
    """
    finest, fluid, resolution = _finest(table), case.fluid, case.resolution
    time = finest["arrival"] / np.sqrt(2 * fluid.gravity / case.width)
    ours = fluid.viscosity * resolution.smoothing_length * fluid.sound_speed / 20
    layer, numerical = (1000 * float(np.sqrt(nu * time)) for nu in (WATER_VISCOSITY, ours))
    spacing = 1000 * resolution.spacing
    return {"layer": layer, "spacing": spacing, "numerical": numerical, "holds": layer < spacing < numerical}


def stiffness(case: DamBreak) -> dict:
    """Speed of a fall through the column over the sound speed, in %, and the depth in m for which it would be right.

    Holds if the column is less deep than that.
    """
    fluid, depth = case.fluid, case.system().depth
    right = (FALL_OVER_SOUND * fluid.sound_speed) ** 2 / (2 * fluid.gravity)
    share = 100 * sqrt(2 * fluid.gravity * depth) / fluid.sound_speed
    return {"share": share, "rule": 100 * FALL_OVER_SOUND, "depth": right, "holds": depth < right}


def slope(table: pd.DataFrame) -> dict:
    """The slope of the finest front of `advances` and the experiments' least and largest.

    Holds if it differs from the nearer one by less than those from each other.
    """
    found, others = float(_finest(table)["slope"]), table.loc[table["spacings"].isna(), "slope"]
    least, most = float(others.min()), float(others.max())
    holds = min(abs(found - least), abs(found - most)) < most - least
    return {"slope": found, "least": least, "most": most, "holds": holds}


def lead(table: pd.DataFrame) -> dict:
    """By how much the experiments reach Z = 3 later than the finest front, at least, as t*; holds if they do."""
    later = table.loc[table["spacings"].isna(), "arrival"].min() - _finest(table)["arrival"]
    return {"later": float(later), "holds": later > 0}


def _finest(table: pd.DataFrame) -> pd.Series:
    return table[table["spacings"].notna()].sort_values("spacings").iloc[-1]


def experiments(data) -> dict[str, pd.DataFrame]:
    """The fronts of Martin and Moyce (1952) and of Koshizuka and Oka (1996) of the folder `data`: t_star and z."""
    files = {"Martin and Moyce": "martin_moyce_1952_front.csv", "Koshizuka and Oka": "koshizuka_oka_1996_front.csv"}
    tables = {name: pd.read_csv(data / "reference" / file, comment="#") for name, file in files.items()}
    return {name: table.set_axis(["t_star", "z"], axis=1) for name, table in tables.items()}


def surfaces(run: Run) -> list[Surface]:
    """The surface at each look that was kept."""
    return [reconstruct(position, run.system) for position in run.positions]


def volumes(found: list[Surface], run: Run) -> pd.DataFrame:
    """The volume of the water at each look that was kept over the column's; columns time and volume."""
    column, time = run.system.count * run.system.resolution.spacing**3, run.table["time"].to_numpy()[run.kept]
    return pd.DataFrame({"time": time, "volume": [surface.volume / column for surface in found]})


def volume_kept(table: pd.DataFrame, end: float) -> dict:
    """By how many % at most the volume of `volumes` is off until `end` in s; holds within VOLUME_CHANGE."""
    worst = float((table.loc[table["time"] <= 1.001 * end, "volume"] - 1).abs().max())
    return {"worst": 100 * worst, "holds": worst <= VOLUME_CHANGE}


def volume_loss(table: pd.DataFrame) -> dict:
    """By how many % a second the volume of `volumes` falls over the second half, by a line; holds if it does."""
    late = table[table["time"] >= table["time"].max() / 2]
    rate = -100 * float(np.polyfit(late["time"], late["volume"], 1)[0]) if len(late) > 1 else 0.0
    return {"rate": rate, "holds": rate > 0}


def watch(case: DamBreak, device, times, film_every: float, energy_every: float) -> Run:
    """`follow` for twice as long as the last of `times`, at both intervals in s; what a film shows is kept."""
    times = [*times, 2 * max(times)]
    kept = looks(times, film_every)
    return follow(case, device, sorted({*looks(times, energy_every), *kept}), kept)


def looks(times, every: float) -> list[float]:
    """Times in s from 0 to the last of `times`, `every` s apart, and `times` themselves."""
    evenly = np.arange(0, max(times) + every / 2, every)
    kept = [t for t in evenly if np.abs(np.array(times) - t).min() > every / 2]
    return sorted({float(t) for t in (*kept, *times)})


def energy_gain(run: Run) -> float:
    """The largest growth of the total energy from one look to the next, over the total at the start."""
    return float(run.table["total"].diff().max() / run.table["total"].iloc[0])
