"""What is looked at between the steps of a run, and ends it or warns: what a system was checked for at its start.

A run can leave the limits that its system kept: a source adds electrons, they gather, or their own field grows.
"""

import warnings

import numpy as np

from repro.errors import CapacityError, DivergenceError, InputError

from .air.tallies import ENERGIES
from .maxwell.fields import courant_numbers, field_units
from .motion.push import LARGEST_TURN
from .stability import highest_density, largest_eigenvalue
from .state import STUCK, TOO_FAST
from .system import FASTEST_ELECTRON, MOST_PARTICLES, below

#: most that a sum of whole numbers may hold at a look: it cannot double until the next one
MOST_IN_A_SUM = 2**62

#: cells along an axis of the regions whose density is looked at, so that a few particles a cell are a mean
_REGION = 3

#: particles at a time, so that a look takes little memory
_PORTION = 1 << 20


def require_valid(simulation) -> None:
    """Raise where a run must end: a particle is lost, the box is full, numbers are not finite or beyond their limits.

    All of several ranks must ask.
    """
    when = f"by step {simulation.steps} of {simulation.system.name}"
    _require_room(simulation, when)
    _require_finite(simulation, when)
    _require_known(simulation, when)
    _require_sums(simulation, when)
    system = simulation.system
    if system.source is not None or len(system.electrons.weight):
        _require_fields(simulation, when)
        if system.self_field:
            _require_stable(simulation, when)


def steps_between_looks(system, most: int) -> int:
    """Steps, at most so many, in which no sum of charges at rest can double, see MOST_IN_A_SUM."""
    source = system.source
    added = 0.0 if source is None else source.weight * source.per_step
    return max(1, min(most, int(2 * system.total_weight // added))) if added else most


def _require_room(simulation, when: str) -> None:
    used, room = int(simulation.used[0]), simulation.subdomain.room
    if used > room:
        wanted = simulation.subdomain.wanted_capacity(used)
        raise CapacityError(f"{used} particles {when}, and room for {room}: take {wanted}")


def _require_finite(simulation, when: str) -> None:
    momenta, electric = simulation.particles_on_device.u, simulation.fields.arrays.electric
    for what, values in (("momenta are", momenta), ("the electric field is", electric)):
        if not np.isfinite(float(values.sum(dtype=np.float64))):
            raise DivergenceError(f"{what} not finite {when}: dt = {simulation.system.dt:g} s")


def _require_known(simulation, when: str) -> None:
    """Refuse particles that a step has given up, by what their cells say."""
    cell = simulation.particles_on_device.cell
    if stuck := int((cell == STUCK).sum()):
        raise DivergenceError(f"{stuck} particles met more faces in a step than there can be {when}")
    air = simulation.system.air
    if air is not None and (fast := int((cell == TOO_FAST).sum())):
        raise DivergenceError(
            f"{fast} electrons have more than {air.highest:g} eV {when}, up to which collisions are known: take weaker "
            "fields, or fewer steps"
        )


def _require_sums(simulation, when: str) -> None:
    """Refuse sums that might overflow before the next look."""
    system, xp, charges = simulation.system, simulation.device.xp, simulation.charges
    most = max(abs(int(xp.max(charges))), abs(int(xp.min(charges))))
    if most > MOST_IN_A_SUM:
        raise CapacityError(
            f"charges of {most / simulation.unit:.3g} electrons rest on a node {when}, and sums for {system.room} "
            f"particles hold hardly more: take a capacity of {min(4 * system.room, MOST_PARTICLES)}"
        )
    if simulation._tallies is None:
        return
    energies = simulation.device.to_host(simulation._tallies)[:ENERGIES]
    if np.abs(energies).max() > MOST_IN_A_SUM:
        raise CapacityError(
            f"electrons have lost more energy {when} than sums for {system.room} particles hold: take a capacity of "
            f"{min(4 * system.room, MOST_PARTICLES)}"
        )


def _require_fields(simulation, when: str) -> None:
    """Refuse fields in which an electron turns or gains more in a step than it may.

    Before the first step that is what a system's fields may; its own field may turn it twice as far, as long as the
    series of `motion.push` hold, and is warned of.
    """
    dt, xp, arrays = simulation.system.dt, simulation.device.xp, simulation.step_arguments[0]
    kick, turn = (_largest(xp, values) for values in (arrays.electric, arrays.magnetic))
    volt, tesla = field_units(dt)
    refusal, most = (DivergenceError, 2 * LARGEST_TURN) if simulation.steps else (InputError, LARGEST_TURN)
    if kick > FASTEST_ELECTRON:
        line = f"in {kick * volt:.3g} V/m an electron gains {kick:.3g} m c in a step, {when}"
        raise refusal(f"{line}, and may {FASTEST_ELECTRON:g}")
    line = (
        f"in {turn * tesla:.3g} T a slow electron turns by {turn:.3g} radians in a step, {when}, and may by "
        f"{LARGEST_TURN:g}: dt at most {below(dt * LARGEST_TURN / max(turn, LARGEST_TURN))} s"
    )
    if turn > most:
        raise refusal(line)
    if turn > LARGEST_TURN:
        _warn_once(simulation, "turn", line)


def _warn_once(simulation, what: str, line: str) -> None:
    if what not in simulation.warned:
        simulation.warned.add(what)
        warnings.warn(line, stacklevel=2)


def _largest(xp, values) -> float:
    """The largest size of a field's vectors, as its components stand at a node."""
    squares = sum(part.astype(np.float64) ** 2 for part in values.reshape(3, -1))
    return float(xp.max(squares)) ** 0.5


def _require_stable(simulation, when: str) -> None:
    """Refuse a box that has become too dense for the step; warn of a region that has, and waves in which may grow."""
    density, region = _densities(simulation, at_rest=True)
    if not _unstable(simulation, max(density, region)):
        return
    # electrons that are fast count for less
    system, (density, region) = simulation.system, _densities(simulation, at_rest=False)
    if _unstable(simulation, density):
        raise DivergenceError(_too_dense(system, density, "the box", when))
    if _unstable(simulation, region):
        _warn_once(simulation, "density", _too_dense(system, region, "a region", when))


def _densities(simulation, *, at_rest: bool) -> tuple[float, float]:
    """Electrons in m3 in the box, and in the densest region here; of several ranks the first number is of all."""
    cells = _electrons_of_cells(simulation, at_rest)
    here = np.array([cells.sum(), _densest_region(simulation.subdomain.mesh, cells)])
    if not simulation.ranks:
        return float(here[0]) / simulation.system.volume, float(here[1])
    table = simulation.ranks.gather(here, "the numbers of electrons")
    return float(table[:, 0].sum()) / simulation.system.volume, float(table[:, 1].max())


def _unstable(simulation, density: float) -> bool:
    return largest_eigenvalue(simulation.system.mesh, simulation.system.dt, density) > 1


def _too_dense(system, density: float, where: str, when: str) -> str:
    courant = float(np.linalg.norm(courant_numbers(system.mesh, system.dt)))
    stable, dt = below(highest_density(system.mesh, system.dt)), system.dt
    right = below(dt / largest_eigenvalue(system.mesh, dt, density) ** 0.5)
    return (
        f"{density:.3g} electrons in m3 in {where} {when}, and with a Courant number of {courant:.3g} the fields of "
        f"more than {stable} grow: dt at most {right} s, or fewer electrons"
    )


def _electrons_of_cells(simulation, at_rest: bool) -> np.ndarray:
    """Electrons of each cell with guards, on the host; each as one at rest, or as what of it counts in omega_p^2."""
    xp, nodes = simulation.device.xp, simulation.subdomain.mesh.layout.nodes
    cell, weight = simulation.particles_on_device.cell, simulation.particles_on_device.weight
    u = simulation.particles_on_device.u.reshape(3, -1)
    found = np.zeros(nodes)
    for first in range(0, len(cell), _PORTION):
        part = slice(first, first + _PORTION)
        electrons = weight[part] * (cell[part] >= 0)
        if not at_rest:
            electrons = electrons / xp.sqrt(1 + (u[:, part].astype(np.float64) ** 2).sum(0))
        counted = xp.bincount(xp.maximum(cell[part], 0), weights=electrons, minlength=nodes)
        found += simulation.device.to_host(counted)
    return found


def _densest_region(mesh, electrons: np.ndarray) -> float:
    """The largest density in m^-3 of _REGION cells along each axis; `electrons` are those of cells with guards."""
    sums, volume = electrons.reshape(mesh.guarded_grid)[1:-1, 1:-1, 1:-1], mesh.cell_volume
    for axis, cells in enumerate(sums.shape):
        width = min(_REGION, cells)
        ends = [slice(k, cells - width + 1 + k) for k in range(width)]
        sums = sum(sums[(slice(None),) * axis + (end,)] for end in ends)
        volume *= width
    return float(sums.max()) / volume
