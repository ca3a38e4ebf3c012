"""A system as plain numbers and texts under names, and back: what a file keeps of it."""

from dataclasses import astuple

import numpy as np

from repro.checksummed_hdf5 import TEXT
from repro.errors import InputError

from ..air.collision_tables import Collisions
from ..air.medium import Air
from ..mesh import Mesh
from ..system import Electrons, Source, System

WHOLE, REAL = np.dtype(np.int64), np.dtype(np.float64)

#: type and shape of each entry, None where any length is right. A source is its energy, weight, particles at the start
#: and in a step, and seed; air its density, temperature, and the cut, stop and highest energy of collisions. What a
#: system has not got is empty
ENTRIES = {
    "name": (TEXT, ()),
    "shape": (WHOLE, (3,)),
    "spacing": (REAL, (3,)),
    "boundaries": (TEXT, ()),
    "layers": (WHOLE, ()),
    "dt": (REAL, ()),
    "magnetic": (REAL, (3,)),
    "electric": (REAL, (3,)),
    "self_field": (WHOLE, ()),
    "seed": (WHOLE, ()),
    "capacity": (WHOLE, ()),
    "source": (REAL, (None,)),
    "air": (REAL, (None,)),
    "position": (REAL, (None, 3)),
    "momentum": (REAL, (None, 3)),
    "electrons": (REAL, (None,)),
}


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
    options = {name: plain[name] for name in ("seed", "capacity", "name")} | {"self_field": bool(plain["self_field"])}
    return System(mesh, plain["dt"], electrons, source, **vectors, air=air, **options)


def _five(name: str, plain: dict) -> list[float]:
    if len(plain[name]) not in (0, 5):
        raise InputError(f"{name}: {len(plain[name])} numbers, where there are five or none")
    return plain[name]
