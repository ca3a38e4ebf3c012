"""Fields and particles in files that other programs open: openPMD 1.1.0 with its extension ED-PIC, in HDF5.

The standard: github.com/openPMD/openPMD-standard (doi:10.5281/zenodo.591699). Numbers are those of the simulation, and
`unitSI` beside each array is what takes them to SI units. Particles have their cell as `positionOffset`.
"""

from datetime import datetime
from pathlib import Path

import h5py
import numpy as np

from repro import __version__
from repro.checksummed_hdf5 import created
from repro.declared import Kind
from repro.errors import require
from repro.files import path_of, whole

from ..constants import CHARGE, LIGHT, MASS
from ..gather import electric_at
from ..maxwell.fields import field_units
from ..observables import charge_density, charges_in_cells
from ..simulation import Simulation
from .global_state import flows, gathered, node_layout

#: the axes of an array from the slowest to the fastest
_LABELS = "zyx"

#: powers of length, mass, time, current, temperature, amount of substance and luminous intensity
_ELECTRIC, _MAGNETIC = (1, 1, -3, -1, 0, 0, 0), (0, 1, -2, -1, 0, 0, 0)
_CHARGE_DENSITY, _CURRENT_DENSITY = (-3, 0, 1, 1, 0, 0, 0), (-2, 0, 0, 1, 0, 0, 0)
_LENGTH, _MOMENTUM, _CHARGE = (1, 0, 0, 0, 0, 0, 0), (1, 1, -1, 0, 0, 0, 0), (0, 0, 1, 1, 0, 0, 0)
_MASS, _NUMBER = (0, 1, 0, 0, 0, 0, 0), (0,) * 7

#: what the standard calls the boundaries, for fields and for particles, and a remark
_BOUNDARIES = {
    "periodic": ("periodic", "periodic", ""),
    "conducting": ("reflecting", "absorbing", "perfect conductor"),
    "absorbing": ("open", "absorbing", "CPML of {} cells"),
}


def write(simulation: Simulation, path) -> Path:
    """Write the state as one iteration, whole or not at all; returns the file. All of several ranks must, one writes.

    In a file's name %T becomes the number of steps: such files are a series. Meshes are E, B (half a step earlier), rho
    and, where electrons have a field of their own, J (half a step earlier; 0 before the first step, and NaN where a run
    goes on from a checkpoint, which does not hold it). Nodes of a periodic axis are
    there once; along the others what stands half a cell above the last node is beyond the wall and means nothing.
    Particles are "electrons" with position, momentum (at the same time), weighting and id. Raises InputError for a
    name that the standard cannot hold and where no file can be written, and what stops a run, as its steps do.
    """
    Kind(Simulation).check("simulation", simulation)
    path = path_of(path)
    _require_name(path)
    state, currents = gathered(simulation), flows(simulation)
    target = path.with_name(path.name.replace("%T", str(simulation.steps)))
    if state is not None:
        with whole(target) as temporary, created(temporary) as file:
            _describe(file, path.name)
            iteration = file.create_group(f"data/{simulation.steps}")
            iteration.attrs.update(time=simulation.time, dt=simulation.system.dt, timeUnitSI=1.0)
            _write_meshes(iteration.create_group("meshes"), simulation, state, currents)
            _write_particles(iteration.create_group("particles/electrons"), simulation, state)
    if simulation.ranks:
        simulation.ranks.until(simulation.ranks.barrier().Test, "the file of fields and particles")
    return target


def _require_name(path: Path) -> None:
    """Refuse a name by which other programs do not find the file, or its steps."""
    name = path.name
    require("%T" not in str(path.parent), f"{path}: %T stands for the number of steps in a file's name, not a folder's")
    require(name.isascii(), f"{name}: openPMD files name themselves, in ASCII: take a name without other letters")
    require(name.endswith(".h5"), f"{name}: openPMD files in HDF5 have names that end in .h5")
    known = "%" not in name.replace("%T", "")
    require(known, f"{name}: % stands in the name of an openPMD file only in %T, for the number of steps")


def _text(**texts: str) -> dict:
    """Attributes as the standard has them: ASCII of a fixed length."""
    return {name: np.bytes_(text) for name, text in texts.items()}


def _describe(file: h5py.File, name: str) -> None:
    encoding = ("fileBased", name) if "%T" in name else ("groupBased", "/data/%T/")
    file.attrs.update(
        _text(
            openPMD="1.1.0",
            basePath="/data/%T/",
            meshesPath="meshes/",
            particlesPath="particles/",
            iterationEncoding=encoding[0],
            iterationFormat=encoding[1],
            software="gpu-papers-repro",
            softwareVersion=__version__,
            date=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %z"),
        )
    )
    # number 1 is ED-PIC
    file.attrs["openPMDextension"] = np.uint32(1)


def _write_meshes(group: h5py.Group, simulation: Simulation, state, currents) -> None:
    mesh, dt, unit = simulation.system.mesh, simulation.system.dt, simulation.unit
    group.attrs.update(_text(fieldSolver="Yee", currentSmoothing="none", chargeCorrection="none"))
    # the low and the high end of each axis
    ends = [_BOUNDARIES[boundary] for boundary in reversed(mesh.boundaries) for _ in range(2)]
    for column, what in enumerate(("fieldBoundary", "particleBoundary", "fieldBoundaryParameters")):
        group.attrs[what] = np.array([end[column].format(mesh.layers) for end in ends], "S")

    # on the axes as labelled
    edges = [np.where(np.arange(3) == 2 - axis, 0.5, 0.0) for axis in range(3)]
    faces = [0.5 - edge for edge in edges]
    electric, magnetic = field_units(dt)
    _write_vector(group, "E", mesh, state["electric"], edges, (electric,) * 3, _ELECTRIC, 0.0)
    _write_vector(group, "B", mesh, state["magnetic"], faces, (magnetic,) * 3, _MAGNETIC, -dt / 2)

    at_rest = np.pad(state["charges"], [(1, 0)] * 3).ravel()
    particles = mesh.nodes(state["cell"]), state["place"].T, state["weight"]
    density = charge_density(mesh, charges_in_cells(mesh, *particles, unit, at_rest), unit)
    group["rho"] = _once(density, mesh).astype(simulation.real)
    group["rho"].attrs.update(position=np.zeros(3), unitSI=1.0)
    _describe_mesh(group["rho"], mesh, _CHARGE_DENSITY, 0.0)
    # without a field of its own nothing clears the sums
    if simulation.system.self_field:
        if simulation.steps and not simulation.has_stepped:
            currents = np.full(currents.shape, np.nan)
        moved = [(-_added(values, mesh) / unit).astype(simulation.real) for values in currents]
        units = [CHARGE * spacing / (dt * mesh.cell_volume) for spacing in mesh.spacing]
        _write_vector(group, "J", mesh, moved, edges, units, _CURRENT_DENSITY, -dt / 2)


def _write_vector(group, name, mesh, components, positions, units, dimension, late) -> None:
    vector = group.create_group(name)
    _describe_mesh(vector, mesh, dimension, late)
    for axis, values, position, unit in zip("xyz", components, positions, units, strict=True):
        vector[axis] = _once(values, mesh)
        vector[axis].attrs.update(position=position, unitSI=unit)


def _describe_mesh(record, mesh, dimension, late: float) -> None:
    record.attrs.update(_text(geometry="cartesian", dataOrder="C", fieldSmoothing="none"))
    record.attrs["axisLabels"] = np.array(list(_LABELS), "S")
    record.attrs.update(gridSpacing=np.array(mesh.spacing[::-1], float), gridGlobalOffset=np.zeros(3), gridUnitSI=1.0)
    record.attrs.update(unitDimension=np.array(dimension, float), timeOffset=late)


def _once(values: np.ndarray, mesh) -> np.ndarray:
    """Values on nodes, without the last one of a periodic axis, which is the first again; nothing if it is gone."""
    kept = (slice(0, cells + (kind != "periodic")) for cells, kind in zip(mesh.shape, mesh.boundaries, strict=True))
    return values[tuple(kept)[::-1]]


def _added(values: np.ndarray, mesh) -> np.ndarray:
    """Sums on nodes, where the first of a periodic axis gets the part that the last one has."""
    values = values.copy()
    for axis, kind in enumerate(mesh.boundaries):
        if kind == "periodic":
            planes = np.moveaxis(values, 2 - axis, 0)
            planes[0] += planes[-1]
    return _once(values, mesh)


def _write_particles(group: h5py.Group, simulation: Simulation, state) -> None:
    mesh, layout = simulation.system.mesh, node_layout(simulation.system.mesh)
    group.attrs.update(_text(currentDeposition="VillaBune", particlePush="other", particleSmoothing="none"))
    group.attrs.update(_text(particleInterpolation="energyConserving"), particleShape=1.0)
    place, cell = state["place"].T, state["cell"].T
    nodes = state["cell"] @ np.array([1, layout.row, layout.plane])
    field = electric_at(state["electric"].ravel(), nodes, tuple(place), layout)
    # at the time of the position
    momentum = state["u"].T - simulation.real(0.5) * np.asarray(field)
    for name, values, units, dimension, power in (
        ("position", place, mesh.spacing, _LENGTH, 0.0),
        # some readers apply no unit to whole numbers
        ("positionOffset", cell.astype(float), mesh.spacing, _LENGTH, 0.0),
        ("momentum", momentum, (MASS * LIGHT,) * 3, _MOMENTUM, 1.0),
    ):
        record = group.create_group(name)
        for axis, component, unit in zip("xyz", values, units, strict=True):
            record[axis] = component
            record[axis].attrs["unitSI"] = unit
        _describe_record(record, dimension, power, of_all=False)
    group["weighting"], group["id"] = state["weight"], state["ids"].astype(np.uint64)
    for name, value, dimension in (("charge", -CHARGE, _CHARGE), ("mass", MASS, _MASS)):
        constant = group.create_group(name)
        constant.attrs.update(value=value, shape=np.array([len(state["ids"])], np.uint64), unitSI=1.0)
        _describe_record(constant, dimension, 1.0, of_all=False)
    for name, power in (("weighting", 1.0), ("id", 0.0)):
        group[name].attrs["unitSI"] = 1.0
        _describe_record(group[name], _NUMBER, power, of_all=name == "weighting")


def _describe_record(record, dimension, power: float, *, of_all: bool) -> None:
    """What is so of one electron, unless it is `of_all`, times a `power` of the weighting is so of a particle."""
    record.attrs.update(unitDimension=np.array(dimension, float), timeOffset=0.0)
    record.attrs.update(weightingPower=power, macroWeighted=np.uint32(of_all))
