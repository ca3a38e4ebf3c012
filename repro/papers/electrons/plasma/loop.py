"""The loop with all that happens in it: charge, bits and momentum, and two streams that grow a wave between them."""

from math import pi

import numpy as np
import pandas as pd

from repro.errors import require, require_whole
from repro.parallel import require_room
from repro.pic import exact, observables
from repro.pic.cases import DRAWN, Plasma, weight_of
from repro.pic.constants import CHARGE, LIGHT, MASS
from repro.pic.maxwell.fields import courant_limit
from repro.pic.mesh import Mesh
from repro.pic.simulation import Simulation
from repro.pic.system import Source, System

from .waves import COURANT, SPACING, cold_plasma

#: what the parameters of the notebook list that say how much happens in a busy box
BUSY, COMPARED = ("cells", "particles", "steps", "steps between looks"), ("cells", "particles", "steps")

#: by how much of it a growth rate may be off theory
GROWTH = 0.02

#: what rounding of places and fields may leave of the largest charge in a step, by precision
ROUNDING = {"double": 1e-13, "single": 1e-6}


def busy(cells: int, particles: int, steps: int, seed: int = 1) -> System:
    """A box in which all happens: walls that absorb, a source in each step, a field from outside, fast electrons."""
    mesh = Mesh((cells,) * 3, (SPACING,) * 3, ("conducting", "periodic", "periodic"))
    dt = COURANT * courant_limit(mesh)
    weight, born = weight_of(mesh, 0.2 / dt, particles), max(1, particles // 50)
    # 1 MeV, on orbits of about a third of the box, and of no less than a step may turn by
    source = Source(1e6, weight, start=particles, per_step=born, seed=seed)
    field = source.momentum * MASS * LIGHT / (CHARGE * max(cells / 3, 2.0) * SPACING)
    capacity = particles + born * (steps + 1)
    return System(mesh, dt, source=source, magnetic=(0.0, field, field / 2), capacity=capacity, name="busy box")


def counts(what: str, values, names: tuple[str, ...]) -> tuple[int, ...]:
    """What a parameter lists, whole numbers of such names; raises InputError."""
    require(len(values) == len(names), f"{what} = {values}: {len(names)} numbers, which are {', '.join(names)}")
    for name, value in zip(names, values, strict=True):
        require_whole(f"{what}: {name}", value, 1, 10**8)
    return tuple(values)


def require_looks(cells: int, particles: int, steps: int, every: int) -> None:
    """Raise InputError where nothing of `charges` could be looked at, or its box does not fit."""
    require(every <= steps, f"looks each {every} steps of {steps}: there is none")
    require(cells > 1, f"a busy box of {cells} cell along each axis: no node lies between its walls, choose 2 at least")
    busy(cells, particles, steps)


def charges(cells: int, particles: int, steps: int, device, every: int) -> pd.DataFrame:
    """Residuals of continuity, and its limit, and of Gauss' law each `every` steps of a busy box in both precisions."""
    require_looks(cells, particles, steps, every)
    rows, system = [], busy(cells, particles, steps)
    for precision in ("double", "single"):
        simulation, mesh = Simulation(system, device, precision=precision), system.mesh
        for step in range(every, steps + 1, every):
            simulation.step(every - 1)
            before = _sums(simulation)
            simulation.step(1)
            after, electric = _sums(simulation), simulation.fields.on_host()["electric"]
            currents = simulation.device.to_host(simulation.fields.arrays.currents)
            born = particles + step * system.source.per_step
            continuity = observables.continuity_residual(mesh, before, after, currents)
            charge = observables.charge_density(mesh, after, simulation.unit)
            gauss = observables.gauss_residual(mesh, electric, charge)
            limit = ROUNDING[precision] + _whole(simulation.count / np.prod(mesh.shape), before)
            rows.append((precision, step, continuity, gauss, simulation.count, born - simulation.count, limit))
    return pd.DataFrame(rows, columns=["precision", "step", "continuity", "gauss", "count", "absorbed", "limit"])


def _whole(density: float, charge: np.ndarray) -> float:
    """What may be left of the largest charge because all shares are whole numbers, with `density` particles a cell.

    Six standard deviations of the shares that a node has, of two segments a particle: of its charge before and after
    from eight cells, and of its currents along six edges from four cells each.
    """
    shares = density * (2 * 8 + 2 * 6 * 4)
    return 6 * float(np.sqrt(shares / 12)) / max(np.abs(charge).max(), 1)


def kept(rows: pd.DataFrame) -> bool:
    """Are residuals of one precision rounding? What it leaves of Gauss' law is a random walk of the steps."""
    walk = rows["limit"] * np.sqrt(rows["step"])
    return bool((rows["continuity"] <= rows["limit"]).all() and (rows["gauss"] <= walk).all())


def _sums(simulation) -> np.ndarray:
    """The charge of each node, in whole numbers."""
    particles, at_rest = simulation.particles(), simulation.device.to_host(simulation.charges)
    mesh, place, weight = simulation.system.mesh, particles["position"], particles["weight"]
    return observables.charge_sums(mesh, place, weight, simulation.unit, at_rest)


def bits(cells: int, particles: int, steps: int, devices: dict) -> pd.DataFrame:
    """How many numbers of a busy box differ from those on the first device, on each device and in each precision."""
    rows, system = [], busy(cells, particles, steps)
    for precision in ("single", "double"):
        first = None
        for name, device in devices.items():
            simulation = Simulation(system, device, precision=precision, sort_every=10)
            simulation.step(steps)
            found = [*simulation.particles().values(), *simulation.fields.on_host().values()]
            first = found if first is None else first
            # particles that only one of them has would be different in shape
            pairs = zip(found, first, strict=True)
            different = sum(int((a != b).sum()) if a.shape == b.shape else a.size for a, b in pairs)
            rows.append((precision, name, simulation.count, sum(values.size for values in found), different))
    return pd.DataFrame(rows, columns=["precision", "device", "particles", "numbers", "different"])


def warm(cells: int, per_cells, periods: int, device) -> dict[float, pd.DataFrame]:
    """A warm plasma for so many plasma periods, with each number of particles a cell; one row a period.

    Columns: periods, energy (total, over that at the start, less 1), field (its share of the energy), momentum (the
    largest component of the sum of all, less that at the start, over the sum of their sizes).
    """
    require_whole("periods of a warm plasma", periods, 1, 10**6)
    found = {}
    for per_cell in per_cells:
        # the Debye length is a third of a cell
        system = Plasma(cells=cells, per_cell=per_cell, plasma_step=0.1, heat=0.06).system()
        simulation, rows = Simulation(system, device, sort_every=50), []
        energy, _, momentum = _totals(simulation)
        for period in range(periods + 1):
            simulation.step(round(period * 2 * pi / 0.1) - simulation.steps)
            total, share, sums = _totals(simulation)
            rows.append((period, total / energy - 1, share, float(np.abs(sums - momentum).max())))
        found[per_cell] = pd.DataFrame(rows, columns=["periods", "energy", "field", "momentum"])
    return found


def _totals(simulation) -> tuple[float, float, np.ndarray]:
    """The energy in J, the field's share of it, and the sum of momenta over that of their sizes."""
    mesh, fields, particles = simulation.system.mesh, simulation.fields.on_host(), simulation.particles()
    field = observables.field_energy(mesh, simulation.system.dt, **fields)
    total = field + observables.kinetic_energy(particles["momentum"], particles["weight"])
    sizes = np.linalg.norm(particles["momentum"], axis=1)
    return total, field / total, particles["weight"] @ particles["momentum"] / (particles["weight"] @ sizes)


def warm_table(runs: dict[float, pd.DataFrame]) -> pd.DataFrame:
    """The largest drifts of each of `warm`, one row each."""
    rows = []
    for per_cell, table in runs.items():
        row = {"particles a cell": per_cell, "periods": table["periods"].iloc[-1], "field": table["field"].mean()}
        rows.append(row | {"energy": table["energy"].abs().max(), "momentum": table["momentum"].max()})
    return pd.DataFrame(rows)


def streams(cells: int, each: int, momentum: float = 0.1, turn: float = 0.1) -> System:
    """Two cold beams through each other along x, with the wave that grows fastest once in the box, seeded weakly."""
    require_whole("cells of two streams", cells, 8, 2**16)
    require_whole("particles of a cell in each stream", each, 1, 10**6)
    require_room(2 * cells * each, DRAWN)
    gamma = float(exact.lorentz_factor(momentum))
    mesh = Mesh((cells, 1, 1), (SPACING,) * 3)
    # k v = sqrt(3) / 2 of one beam's frequency, omega_p / sqrt(2 gamma^3), which gives the density
    beam = 2 * pi / mesh.length[0] * LIGHT * momentum / gamma / np.sqrt(0.75)
    frequency = beam * np.sqrt(2 * gamma**3)
    dt = min(COURANT * courant_limit(mesh), turn / frequency)
    place = (np.arange(cells * each) + 0.5) / each * SPACING
    position = np.full((2 * len(place), 3), SPACING / 2)
    position[:, 0] = np.tile(place, 2)
    u = np.zeros_like(position)
    seeded = 1e-4 * momentum * np.sin(2 * pi * position[:, 0] / mesh.length[0])
    u[:, 0] = np.repeat([1.0, -1.0], len(place)) * momentum + seeded
    return cold_plasma(mesh, dt, position, u, frequency, "two streams")


def growth(cells: int, each: int, times: float, device, *, every: int = 5) -> pd.DataFrame:
    """Let two streams run for so many times the inverse of theory's growth rate; one row each `every` steps.

    Columns: time (in that unit), field (amplitude of the box's wave in V/m), momentum (the sum along x over that of one
    beam).
    """
    system = streams(cells, each)
    simulation, rows = Simulation(system, device, precision="double"), []
    unit, beam = rate(system), float(np.abs(system.electrons.momentum[:, 0] * system.electrons.weight).sum() / 2)
    wave = np.exp(-2j * pi * (np.arange(cells) + 0.5) / cells)
    while simulation.time * unit < times:
        simulation.step(every)
        electric, particles = simulation.fields.on_host()["electric"], simulation.particles()
        field = 2 * abs(np.mean(electric[0, 0, 0, :-1] * wave))
        momentum = float((particles["momentum"][:, 0] * particles["weight"]).sum())
        rows.append((simulation.time * unit, field, momentum / beam))
    return pd.DataFrame(rows, columns=["time", "field", "momentum"])


def rate(system: System) -> float:
    """Theory's growth rate in 1/s of the wave in a box with two streams."""
    momentum = float(np.abs(system.electrons.momentum[:, 0]).mean())
    return exact.two_stream_growth(2 * pi / system.mesh.length[0], momentum, system.density)


def fitted(table: pd.DataFrame, first: float = 3.0, share: float = 0.05) -> float:
    """The growth rate over theory's, from `first` times to where the field is `share` of its largest."""
    end = table["time"][table["field"] > share * table["field"].max()].iloc[0]
    rows = table[(table["time"] >= first) & (table["time"] <= end)]
    return float(np.polyfit(rows["time"], np.log(rows["field"]), 1)[0])
