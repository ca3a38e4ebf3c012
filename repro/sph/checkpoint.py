"""A run on disk: HDF5 checkpoints that continue where they were made."""

import hashlib
from dataclasses import asdict
from typing import Annotated

import numpy as np

from repro.checksummed_hdf5 import entry, opened, written
from repro.declared import Kind, checked
from repro.errors import require
from repro.particles.position import Units

from .simulation import Simulation
from .stability_checks import require_inside, require_limits

KIND = "checkpoint of SPH particles"

_VERSION = 4
#: what the next step begins with; the velocity foreseen is found anew
_ARRAYS = ("r", "v", "s", "a")


@checked
def save(simulation: Annotated[Simulation, Kind(Simulation)], path) -> None:
    """Write a checkpoint, whole or not at all; it goes on on any number of ranks.

    Of several ranks all must call it: rank 0 writes, the others wait until it has, and where it cannot, all raise.
    """
    sampling = simulation.sampling
    require(
        not simulation.air_acts or not (sampling.carried or simulation.steps % sampling.every),
        f"step {simulation.steps}: ghosts in the air are sown anew each {sampling.every} steps, and only then can a "
        "checkpoint be made; not if they are carried along",
    )
    # one that goes on would not find the forces at the start
    simulation.start()
    # by id: each search has its own order
    here = simulation.by_id(*(getattr(simulation.state, name) for name in _ARRAYS))
    rows = dict(zip(_ARRAYS, map(simulation.gathered, here), strict=True))
    with simulation._share.together():
        if rows["r"] is not None:
            _write(simulation, rows, path)


def _write(simulation: Simulation, rows: dict, path) -> None:
    with written(path, KIND, _VERSION) as file:
        file.attrs.update(steps=simulation.steps, **_identity(simulation))
        for name, values in rows.items():
            file[name] = values.T.ravel()


@checked
def restore(simulation: Annotated[Simulation, Kind(Simulation)], path) -> None:
    """Let a fresh simulation go on from a checkpoint of the same case, on any device: it follows the same trajectory.

    Raises InputError for a file that is not a whole checkpoint, or one of another case.
    """
    # searches that keep the state in the order of cells have moved the particles of a run
    simulation._require_untouched("a checkpoint")
    state, count = {name: getattr(simulation.state, name) for name in _ARRAYS}, simulation.system.count
    with opened(path, KIND, _VERSION) as file:
        found = dict(file.attrs)
        for name, value in _identity(simulation).items():
            require(name in found, f"not a checkpoint of this program (without {name})")
            same = np.array_equal(found[name], value)
            require(same, f"a checkpoint of another case: its {name} is {found[name]}, not {value}")
        sizes = {name: len(array) // simulation.state.count * count for name, array in state.items()}
        arrays = {name: entry(file, name, state[name].dtype, (size,)) for name, size in sizes.items()}
        _require_possible(simulation, arrays, file.attrs["steps"])
        simulation.resume(file.attrs["steps"])
    simulation.place({name: values.reshape(-1, count).T for name, values in arrays.items()})


def _require_possible(simulation: Simulation, arrays: dict[str, np.ndarray], steps) -> None:
    """Refuse a state that no run comes to: one that stops a run, see `stability_checks`, or a density below zero."""
    system, when = simulation.system, f"at step {steps}"
    r, v, a = (np.ascontiguousarray(arrays[name].reshape(3, -1).T) for name in ("r", "v", "a"))
    place = Units(simulation.real).coordinates(r, system.box) - system.margin
    beyond = np.maximum(-place, place - np.array([*system.tank[:2], system.ceiling])).max(1)
    require_inside(np.maximum(beyond, 0), v, system, when)
    require_limits({"velocity": v, "acceleration": a, "condensation": arrays["s"]}, system, when)
    negative = int((arrays["s"] <= -1).sum())
    require(not negative, f"s is damaged: {negative} particles have no density above zero")


def _identity(simulation: Simulation) -> dict:
    """What must be the same for a run to go on; the search and the device may change."""
    system = simulation.system
    about = {"name": system.name, "particles": system.count, "time step": system.dt, "mass": system.mass}
    about |= {f"tank {axis}": side for axis, side in zip("xyz", system.tank, strict=True)}
    about |= asdict(system.fluid) | asdict(system.resolution) | asdict(system.walls)
    about["obstacles"] = hashlib.sha256(np.ascontiguousarray(system.obstacles, dtype=float)).hexdigest()
    if simulation.air_acts:
        about |= {f"air's {name}": value for name, value in asdict(simulation.sampling).items()}
    return about | {name: getattr(simulation, name) for name in ("density", "boundary", "precision")}
