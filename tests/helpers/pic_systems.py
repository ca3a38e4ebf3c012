"""Systems of electrons that several tests begin with, and sums over them by other means than the solver's."""

import warnings
from itertools import product

import numpy as np

from repro.pic.constants import CHARGE, LIGHT, MASS, PERMITTIVITY
from repro.pic.mesh import Mesh
from repro.pic.system import Electrons, Source, System

SPACING = (1.0e-3, 1.1e-3, 0.9e-3)


def limit(spacing=SPACING) -> float:
    """The Courant limit of a time step in s."""
    return 1 / (LIGHT * np.sqrt(sum(length**-2 for length in spacing)))


def weight_of(frequency: float, count: int, volume: float) -> float:
    """The weight of each of `count` particles that have a plasma frequency in 1/s together."""
    return frequency**2 * MASS * PERMITTIVITY / CHARGE**2 * volume / count


def crowd(
    shape=(3, 4, 2), boundaries=("conducting", "periodic", "periodic"), *, count=9, born=(4, 3), seed=1, layers=1
):
    """Fast electrons in a strong field of their own, a field from outside, a source, and walls that absorb."""
    mesh, generator = Mesh(shape, SPACING, boundaries, layers=layers), np.random.default_rng(seed)
    # absorbing layers have no electrons
    first, dt = np.array([low for low, _ in mesh.absorbing]) * SPACING, 0.95 * limit()
    extent = np.array(mesh.inner_shape) * SPACING
    weight = weight_of(0.6 / dt, count + born[0], float(np.prod(extent)))
    electrons = Electrons(
        first + generator.random((count, 3)) * extent, generator.normal(0, 2, (count, 3)), np.full(count, weight)
    )
    field = 0.5 * MASS / (CHARGE * dt) * np.array([0.3, -0.5, 0.8])
    source = Source(1e6, weight / 3, *born, seed=seed)
    with warnings.catch_warnings():
        # what the mesh resolves is not what these tests ask
        warnings.simplefilter("ignore")
        return System(mesh, dt, electrons, source, tuple(field), capacity=200, name="crowd")


def cold_wave(cells=8, each=4, *, turn=0.2, amplitude=1e-3, cross=(1, 1)) -> System:
    """Resting electrons that a standing wave along x, one wavelength in the box, sets in motion; omega_p dt = turn."""
    spacing = (1e-3,) * 3
    mesh, dt = Mesh((cells, *cross), spacing), 0.9 * limit(spacing)
    count = cells * each
    position = np.full((count, 3), 0.5e-3)
    position[:, 0] = (np.arange(count) + 0.5) / each * 1e-3
    momentum = np.zeros((count, 3))
    momentum[:, 0] = amplitude * np.sin(2 * np.pi * position[:, 0] / mesh.length[0])
    weight = weight_of(turn / dt, count, float(np.prod(mesh.length)))
    with warnings.catch_warnings():
        # cold it is meant to be
        warnings.simplefilter("ignore")
        return System(mesh, dt, Electrons(position, momentum, np.full(count, weight)), name="cold wave")


def net_charge(simulation) -> np.ndarray:
    """Ions less electrons at the nodes from the first to the last of each axis, (nx + 1, ny + 1, nz + 1).

    Along a periodic axis the first and the last node have the same.
    """
    mesh, found = simulation.system.mesh, simulation.particles()
    grid = tuple(cells + 2 for cells in mesh.shape[::-1])
    rest = simulation.device.to_host(simulation.charges).reshape(grid).T[1:, 1:, 1:] / simulation.unit
    scaled = found["position"] / mesh.spacing
    cell = np.minimum(np.floor(scaled).astype(int), np.array(mesh.shape) - 1)
    share = scaled - cell
    for corner in product((0, 1), repeat=3):
        weights = np.prod(np.where(corner, share, 1 - share), axis=1)
        np.add.at(rest, tuple((cell + corner).T), -found["weight"] * weights)
    for axis, boundary in enumerate(mesh.boundaries):
        if boundary == "periodic":
            ends = [tuple(slice(None) if a != axis else end for a in range(3)) for end in (0, -1)]
            rest[ends[0]] += rest[ends[1]]
            rest[ends[1]] = rest[ends[0]]
    return rest


def inner(mesh, values) -> np.ndarray:
    """Those of the nodes' values that have neighbours on both sides: none on a wall, and no periodic node twice."""
    return values[tuple(slice(1, -1) if kind != "periodic" else slice(0, -1) for kind in mesh.boundaries)]


def divergence(mesh, components) -> np.ndarray:
    """Sum over axes of what stands after a node less what stands before it; components of (nx + 1, ny + 1, nz + 1)."""
    return sum(values - np.roll(values, 1, axis) for axis, values in enumerate(_unrolled(mesh, components)))


def _unrolled(mesh, components):
    """The components with the value before the first node where np.roll finds it."""
    found = []
    for axis, values in enumerate(components):
        values = values.copy()
        if mesh.boundaries[axis] == "periodic":
            last = tuple(slice(None) if a != axis else -1 for a in range(3))
            before = tuple(slice(None) if a != axis else -2 for a in range(3))
            values[last] = values[before]
        found.append(values)
    return found


def gauss_residual(simulation) -> np.ndarray:
    """Flow of eps0 E out of each inner node's cell less the charge in it, in electrons."""
    mesh = simulation.system.mesh
    field = simulation.fields.on_host()["electric"].transpose(0, 3, 2, 1)
    areas = np.array([mesh.cell_volume / spacing for spacing in mesh.spacing])
    flux = divergence(mesh, field * areas[:, None, None, None]) * PERMITTIVITY / CHARGE
    return inner(mesh, flux - net_charge(simulation))


def flows(simulation) -> list[np.ndarray]:
    """Electrons that went along each edge in the last step, by axis, (nx + 1, ny + 1, nz + 1)."""
    grid = tuple(cells + 2 for cells in simulation.system.mesh.shape[::-1])
    sums = simulation.device.to_host(simulation.fields.arrays.currents).reshape(*grid, 12).transpose(2, 1, 0, 3)
    found = []
    for axis in range(3):
        p, q = (axis + 1) % 3, (axis + 2) % 3
        first = sums[..., 4 * axis : 4 * axis + 4].astype(float) / simulation.unit
        along = first[..., 0] + np.roll(first[..., 1], 1, p) + np.roll(first[..., 2], 1, q)
        found.append((along + np.roll(first[..., 3], (1, 1), (p, q)))[1:, 1:, 1:])
    return found
