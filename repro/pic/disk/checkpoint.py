"""A run on disk: HDF5 checkpoints that continue where they were made, on any device and on any number of ranks."""

import h5py
import numpy as np

from repro import checksummed_hdf5
from repro.declared import Kind
from repro.errors import InputError, require_one_of
from repro.files import path_of
from repro.parallel import PRECISIONS
from repro.parallel.options import MOST_STEPS

from ..simulation import Simulation
from ..system import System
from .global_state import COUNT, gathered, scattered, types_and_shapes
from .system_metadata import ENTRIES, TEXT, described, system_of

_KIND, _VERSION = "checkpoint of electrons", 1


def save(simulation: Simulation, path) -> None:
    """Write a checkpoint, whole or not at all; all of several ranks must, and one writes. It holds the whole box.

    Raises what stops a run, as its steps do: no checkpoint goes on from there; and InputError where no file can be
    written.
    """
    Kind(Simulation).check("simulation", simulation)
    path = path_of(path)
    state = gathered(simulation)
    if state is not None:
        entries = {f"system/{name}": value for name, value in described(simulation.system).items()}
        entries |= {"precision": simulation.precision} | {f"state/{name}": values for name, values in state.items()}
        with checksummed_hdf5.written(path, _KIND) as file:
            file.attrs["version"] = _VERSION
            for name, values in entries.items():
                file[name] = values
    if simulation.ranks:
        simulation.ranks.until(simulation.ranks.barrier().Test, "the checkpoint")


def load(path, device, **options) -> Simulation:
    """Continue from a checkpoint: the same trajectory bit for bit, with any `options` of Simulation but the precision.

    Each of several ranks reads it, and must have memory for all particles for a while.
    Raises InputError for a file that is not a whole checkpoint, or whose numbers are none of such a run.
    """
    with checksummed_hdf5.opened(path, _KIND) as file:
        version = file.attrs.get("version")
        if version != _VERSION:
            raise InputError(f"a checkpoint of version {version}, and this program reads {_VERSION}")
        entries = {name: _entry(file, f"system/{name}", *entry) for name, entry in ENTRIES.items()}
        precision = _entry(file, "precision", TEXT, ())
        require_one_of("precision", precision, PRECISIONS)
        if options.setdefault("precision", precision) != precision:
            raise InputError(f"the run is in {precision} precision, and goes on in no other: {options['precision']}")
        system = system_of(entries)
        state = _state(file, system, PRECISIONS[precision])
        _require_valid(state, system)
    simulation = Simulation(system, device, **options)
    scattered(state, simulation)
    return simulation


def _entry(file, name: str, kind: np.dtype, shape: tuple):
    """The text or the array under a name, if it is what it must be."""
    dataset = file.get(name)
    if not isinstance(dataset, h5py.Dataset):
        raise InputError(f"not a whole checkpoint: {name} is missing, or cannot be read")
    is_text = h5py.check_string_dtype(dataset.dtype) is not None
    found = TEXT if is_text else dataset.dtype
    if found != kind:
        raise InputError(f"{name} is {_named(found)}, not {_named(kind)}")
    # before it is read: a damaged shape may be one that no memory holds
    if len(dataset.shape) != len(shape) or any(n not in (None, m) for n, m in zip(shape, dataset.shape, strict=True)):
        raise InputError(f"{name} has the shape {dataset.shape}, not {_shown(shape)}")
    values = dataset.asstr()[()] if is_text else dataset[()]
    if found.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"{name} is damaged: {np.size(values) - np.isfinite(values).sum()} numbers are not finite")
    return values if is_text else np.asarray(values)


def _state(file, system: System, real) -> dict[str, np.ndarray]:
    ids = _entry(file, "state/ids", COUNT, (None,))
    if len(ids) > system.room:
        raise InputError(f"state/ids has {len(ids)} particles, and the system has room for {system.room}")
    wanted = types_and_shapes(system, real, len(ids))
    return {name: _entry(file, f"state/{name}", *entry) for name, entry in wanted.items()}


def _require_valid(state: dict[str, np.ndarray], system: System) -> None:
    """Refuse what no run of the system comes to; the line names the array."""
    steps, cells = int(state["steps"]), np.array(system.mesh.shape)
    source, heaviest = system.source, system.heaviest
    _require("steps", state["steps"], 0 <= steps <= MOST_STEPS, f"a whole number from 0 to {MOST_STEPS}")
    _require("cell", state["cell"], (state["cell"] >= 0) & (state["cell"] < cells), f"in the box of {cells} cells")
    _require("place", state["place"], (state["place"] >= 0) & (state["place"] <= 1), "from 0 to 1")
    weight = state["weight"]
    _require(
        "weight", weight, (weight > 0) & (weight <= weight.dtype.type(heaviest)), f"above 0, and at most {heaviest:g}"
    )
    ids, given = state["ids"], len(system.electrons.weight)
    if source is not None:
        given += source.start + source.per_step * steps
    # ids of secondaries are drawn
    last = given - 1 if system.air is None else np.iinfo(COUNT).max
    _require("ids", ids, (ids >= 0) & (ids <= last), f"from 0 to {last}, as were given away in {steps} steps")
    _require("ids", ids[1:], np.diff(ids) > 0, "of one particle each, in their order")


def _require(name: str, values: np.ndarray, right, what: str) -> None:
    wrong = values[~np.asarray(right)] if values.ndim else values[None][[not right]]
    if len(wrong):
        raise InputError(f"state/{name} is damaged: {len(wrong)} numbers such as {wrong[0]} are not {what}")


def _named(kind: np.dtype) -> str:
    return "text" if kind == TEXT else str(kind)


def _shown(shape: tuple) -> str:
    return str(tuple("any" if n is None else n for n in shape)).replace("'", "")
