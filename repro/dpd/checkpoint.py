"""A run on disk: HDF5 checkpoints that continue where they were made, and trajectories that OVITO opens."""

import os
import re
from dataclasses import asdict, fields
from typing import Annotated

import numpy as np

from repro.checksummed_hdf5 import entry, opened, written
from repro.declared import Flag, Kind, Number, OneOf, checked
from repro.errors import require, short
from repro.files import append_text, write_text
from repro.parallel import PRECISIONS
from repro.parallel.options import OnDevice, OnRanks
from repro.particles.position import Units

from .fluid import TRIED, Fluid
from .forces import GROOT_WARREN, Law
from .ranks import ROOM
from .simulation import LONGEST_MOVE, Simulation
from .state import State
from .strategies import STRATEGIES, runs_on
from .system import System
from .walls import Walls

KIND = "checkpoint of DPD particles"

#: the first two lines of a frame
_FRAME = re.compile(rb'^(\d+)\nLattice=".*\n', re.MULTILINE)
#: bytes of the end of a file that are read first
_BLOCK = 1 << 16

_VERSION = 4
#: what the particles have in common; the others are `State.EACH`
_OF_ALL = ("clock", "sequence")


@checked
def save(simulation: Annotated[Simulation, Kind(Simulation)], path) -> None:
    """Write a checkpoint, whole or not at all.

    Of several ranks all must call it, and rank 0 writes: the others wait until it has, and are refused what it is.
    """
    # one that goes on would not find the forces at the start
    simulation.start()
    particles = simulation.gathered(*State.EACH)
    with simulation.share.together():
        if particles is not None:
            _write(simulation, particles, path)


def _write(simulation: Simulation, particles: dict, path) -> None:
    system, state = simulation.system, simulation.state
    with written(path, KIND, _VERSION) as file:
        file.attrs.update(steps=simulation.steps, **simulation.options)
        file.attrs.update(box=system.box, moving=system.moving, drive=system.drive, turn=system.turn, name=system.name)
        file.create_group("fluid").attrs.update(asdict(system.fluid) | {"law": system.fluid.law.name})
        file.create_group("walls").attrs.update(asdict(system.walls))
        file["force"] = _force(system.fluid)
        for name in _OF_ALL:
            file[name] = simulation.device.to_host(getattr(state, name))
        for name, rows in particles.items():
            file[name] = rows.ravel()


@checked
def load(
    path,
    device: OnDevice,
    *,
    law: Law = GROOT_WARREN,
    ranks: OnRanks = None,
    room: Annotated[float, Number(1)] = ROOM,
) -> Simulation:
    """Continue from a checkpoint, with its strategy, or the device's fastest where that does not run on `device`.

    On any number of `ranks`, however many have written it; `room` as of Simulation.

    On a device on which the strategy repeats (see `Traits.repeats`) it is the same trajectory bit for bit. A file knows
    no function, so a law of your own must be given again. Raises InputError for a file that is not a whole checkpoint,
    and for one that was written with another law.
    """
    with opened(path, KIND, _VERSION) as file:
        settings = {key: value.item() if isinstance(value, np.generic) else value for key, value in file.attrs.items()}
        fluid = _fluid(file, law)
        walls = Walls(**_numbers(file["walls"], Walls))
        ids = entry(file, "ids", np.dtype(np.int32), (None,))
        each = np.array_equal(np.sort(ids), np.arange(len(ids)))
        require(each, f"ids are not the numbers from 0 to {len(ids) - 1}, each of one particle")
        box, more = tuple(_real(file, "box")), {key: settings[key] for key in ("moving", "drive", "turn", "name")}
        # a placeholder, by which ranks share the particles: the arrays below replace it
        OneOf(PRECISIONS).check("precision", settings["precision"])
        units = Units(PRECISIONS[settings["precision"]])
        whole = entry(file, "r", np.dtype(units.whole), (3 * len(ids),))
        position = units.coordinates(whole.reshape(3, -1).T, np.array(box))
        system = System(fluid, box, position, np.zeros_like(position), walls=walls, **more)
        options = {key: settings[key] for key in Simulation.OPTIONS}
        OneOf(STRATEGIES).check("strategy", options["strategy"])
        if not runs_on(options["strategy"], device, ranks):
            options["strategy"] = "fastest"
        simulation = Simulation(system, device, **options, ranks=ranks, room=room)
        _fill(simulation, file)
        simulation.resume(settings["steps"])
        _require_possible(simulation)
        return simulation


def _fill(simulation: Simulation, file) -> None:
    """Set the state to that of a checkpoint."""
    device, state, particles = simulation.device, simulation.state, {}
    for name in _OF_ALL:
        array = getattr(state, name)
        array[:] = device.to_device(entry(file, name, array.dtype, array.shape))
    for name in State.EACH:
        array, count = getattr(state, name), simulation.system.count
        components = len(array) // state.count
        particles[name] = entry(file, name, array.dtype, (components * count,)).reshape(components, count)
    simulation.share.fill(device, state, particles)


def _require_possible(simulation: Simulation) -> None:
    """Refuse a state that no run comes to: particles, or forces, too fast for a step, or noise of another step."""
    clock, dt = int(simulation.state.clock[0]), simulation.system.fluid.dt
    # the forces were found before the first step, too
    require(clock == simulation.steps + 1, f"clock is {clock} after {simulation.steps} steps, not one more than these")
    simulation.look()
    square = simulation.total(simulation.device.xp.square(simulation.state.f, dtype=np.float64))
    kick = dt * np.sqrt(square / simulation.system.moving)
    require(kick * dt < LONGEST_MOVE, f"f is damaged: a step gives particles a mean speed of {kick:.3g}")


def _force(fluid: Fluid) -> np.ndarray:
    """By what a law is known again: its conservative force at some distances."""
    return np.array([fluid.conservative_force(distance) for distance in TRIED])


def _fluid(file, law: Law) -> Fluid:
    """The fluid of a checkpoint, if its law is the given one."""
    name, parameters = file["fluid"].attrs["law"], tuple(_real(file["fluid"], "parameters"))
    require(name == law.name, f"written with the law {name}, not with {law.name}: give it as law=")
    fluid = Fluid(**_numbers(file["fluid"], Fluid), law=law, parameters=parameters)
    force = _force(fluid)
    same = np.allclose(force, entry(file, "force", force.dtype, force.shape), rtol=1e-9, atol=0)
    require(same, f"written with another law of the name {name}: its conservative force was not this one")
    return fluid


def _numbers(group, kind: type) -> dict[str, float]:
    """The numbers of a group that make a `kind`, every one of them: what a file lacks is not made up."""
    return {f.name: _real(group, f.name) for f in fields(kind) if f.name not in ("law", "parameters")}


def _real(group, name: str) -> float | list[float]:
    """The number or numbers of an attribute: bytes would be taken for numbers, and complex ones for their real part."""
    values = np.asarray(group.attrs[name])
    require(values.dtype.kind in "iuf", f"{name} = {short(values.tolist())}: must be real numbers")
    return values.astype(float).tolist()


@checked
def write_xyz(
    simulation: Annotated[Simulation, Kind(Simulation)], path, *, append: Annotated[bool, Flag()] = False
) -> None:
    """Write a frame as extended XYZ (OVITO, ASE): id, species F or W, position and velocity, with all their digits.

    Of several ranks all must call it, and rank 0 writes. A new file is written whole or not at all; with `append` the
    frame follows the earlier ones, or they stay as they are. Raises InputError where no file can be written, and where
    what is there does not end with a whole frame.
    """
    system, particles = simulation.system, simulation.particles()
    if particles is None:
        return
    x, y, z, time = map(float, (*system.box, simulation.steps * system.fluid.dt))
    lines = [
        f"{system.count}",
        f'Lattice="{x!r} 0 0 0 {y!r} 0 0 0 {z!r}" pbc="T T T" Time={time!r} '
        "Properties=id:I:1:species:S:1:pos:R:3:velo:R:3",
    ]
    rows = np.column_stack([particles["position"], particles["velocity"]])
    require(np.isfinite(rows).all(), f"step {simulation.steps} has numbers that are not finite: no frame is written")
    lines += [f"{k} {'F' if k < system.moving else 'W'} " + " ".join(map(str, row)) for k, row in enumerate(rows)]
    text = "\n".join(lines) + "\n"
    if append:
        append_text(path, text, _flaw_of_frames)
    else:
        write_text(path, text)


def _flaw_of_frames(file) -> str:
    """Why no frame can follow what is in an open file; empty if one can. Of a long file only the end is read."""
    start = size = file.seek(0, os.SEEK_END)
    frames: list[re.Match] = []
    while start and not frames:
        start = max(0, size - 4 * (size - start) - _BLOCK)
        file.seek(start)
        text = file.read(size - start)
        # a line of which the beginning is missing may look like the number of particles
        frames = list(_FRAME.finditer(text, text.find(b"\n") + 1 if start else 0))
    if not size or (frames and text.endswith(b"\n") and text.count(b"\n", frames[-1].end()) == int(frames[-1][1])):
        return ""
    return "its last frame is not whole, or of another program: cut it off, or write to a new file"
