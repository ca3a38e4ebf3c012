"""A run on disk: HDF5 checkpoints that continue where they were made, on any device and on any number of ranks."""

from dataclasses import astuple

import numpy as np

from repro.checksummed_hdf5 import TEXT, entry, opened, refused, written
from repro.declared import Kind, Whole
from repro.errors import InputError, require, require_one_of
from repro.files import path_of
from repro.parallel import PRECISIONS
from repro.parallel.timeloop import MOST_STEPS

from ..air.collision_tables import Collisions
from ..air.medium import Air
from ..mesh import Mesh
from ..simulation import Simulation
from ..system import FASTEST_ELECTRON, Electrons, Source, System
from .global_state import COUNT, gathered, scattered, types_and_shapes

_KIND, _VERSION = "checkpoint of electrons", 1

WHOLE, REAL = np.dtype(np.int64), np.dtype(np.float64)

#: type and shape of each entry, None where any length is right. A source is its energy, weight, particles at the start
#: and in a step, and seed; air its density, temperature, and the cut, stop and highest energy of collisions. What a
#: system has not got is empty
ENTRIES = {
    **dict.fromkeys(("name", "boundaries"), (TEXT, ())),
    **dict.fromkeys(("layers", "self_field", "seed", "capacity"), (WHOLE, ())),
    **dict.fromkeys(("spacing", "magnetic", "electric"), (REAL, (3,))),
    **dict.fromkeys(("source", "air", "electrons"), (REAL, (None,))),
    **dict.fromkeys(("position", "momentum"), (REAL, (None, 3))),
    "shape": (WHOLE, (3,)),
    "dt": (REAL, ()),
}


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
        with written(path, _KIND, _VERSION) as file:
            for name, values in entries.items():
                file[name] = values
    if simulation.ranks:
        simulation.ranks.until(simulation.ranks.barrier().Test, "the checkpoint")


def load(path, device, **options) -> Simulation:
    """Continue from a checkpoint: the same trajectory bit for bit, with any `options` of Simulation but the precision.

    Each of several ranks reads it, and must have memory for all particles for a while.
    Raises InputError for a file that is not a whole checkpoint, or whose numbers are none of such a run.
    """
    with opened(path, _KIND, _VERSION) as file:
        entries = {name: entry(file, f"system/{name}", *kind) for name, kind in ENTRIES.items()}
        precision = entry(file, "precision", TEXT, ())
        require_one_of("precision", precision, PRECISIONS)
        if options.setdefault("precision", precision) != precision:
            raise InputError(f"the run is in {precision} precision, and goes on in no other: {options['precision']}")
        system = system_of(entries)
        state = _state(file, system, PRECISIONS[precision])
        _require_valid(state, system)
    simulation = Simulation(system, device, **options)
    scattered(state, simulation)
    with refused(path):
        simulation.look()
    return simulation


def _state(file, system: System, real) -> dict[str, np.ndarray]:
    ids = entry(file, "state/ids", COUNT, (None,))
    require(len(ids) <= system.room, f"state/ids has {len(ids)} particles, and the system has room for {system.room}")
    wanted = types_and_shapes(system, real, len(ids))
    return {name: entry(file, f"state/{name}", *kind) for name, kind in wanted.items()}


def _require_valid(state: dict[str, np.ndarray], system: System) -> None:
    """Refuse what no run of the system comes to; the line names the array."""
    steps, mesh = int(state["steps"]), system.mesh
    source, heaviest = system.source, system.heaviest
    _require("steps", state["steps"], 0 <= steps <= MOST_STEPS, f"a whole number from 0 to {MOST_STEPS}")
    here = mesh.inner_cells(state["cell"]) == state["cell"]
    _require("cell", state["cell"], here, f"in the box of {np.array(mesh.shape)} cells, before any absorbing layer")
    _require("place", state["place"], (state["place"] >= 0) & (state["place"] <= 1), "from 0 to 1")
    fast = np.abs(state["u"]) <= FASTEST_ELECTRON
    _require("u", state["u"], fast, f"from {-FASTEST_ELECTRON:g} to {FASTEST_ELECTRON:g} m c")
    if system.air is not None:
        _require("tallies", state["tallies"], state["tallies"] >= 0, "0 or more")
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


def described(system: System) -> dict:
    """Entries of a system, by name."""
    mesh, air = system.mesh, system.air
    names = ("name", "dt", "magnetic", "electric", "self_field", "seed")
    found = {name: getattr(system, name) for name in names} | {"capacity": system.room}
    found |= {"shape": mesh.shape, "spacing": mesh.spacing, "boundaries": " ".join(mesh.boundaries)}
    found |= {"layers": mesh.layers, "source": () if system.source is None else astuple(system.source)}
    found["air"] = () if air is None else (*astuple(air.air), air.cut, air.stop, air.highest)
    electrons = system.electrons
    found |= {"position": electrons.position, "momentum": electrons.momentum, "electrons": electrons.weight}
    return {name: found[name] if kind is TEXT else np.array(found[name], kind) for name, (kind, _) in ENTRIES.items()}


def system_of(entries: dict) -> System:
    """The system of such entries; raises InputError where there can be none."""
    plain = {name: value if isinstance(value, str) else value.tolist() for name, value in entries.items()}
    boundaries = tuple(plain["boundaries"].split(" "))
    mesh = Mesh(tuple(plain["shape"]), tuple(plain["spacing"]), boundaries, layers=plain["layers"])
    source = air = None
    if numbers := _five("source", plain):
        source = Source(*numbers[:2], *(int(n) if n.is_integer() else n for n in numbers[2:]))
    if numbers := _five("air", plain):
        air = Collisions(Air(*numbers[:2]), *numbers[2:])
    electrons = Electrons(entries["position"], entries["momentum"], entries["electrons"])
    vectors = {name: tuple(plain[name]) for name in ("magnetic", "electric")}
    Whole(0, 1).check("self_field", plain["self_field"])
    options = {name: plain[name] for name in ("seed", "capacity", "name")} | {"self_field": bool(plain["self_field"])}
    return System(mesh, plain["dt"], electrons, source, **vectors, air=air, **options)


def _five(name: str, plain: dict) -> list[float]:
    require(len(plain[name]) in (0, 5), f"{name}: {len(plain[name])} numbers, where there are five or none")
    return plain[name]
