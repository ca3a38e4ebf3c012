"""Water on several ranks, and one rank's part of tests/sph/test_sph_ranks.py.

python rank_waters.py FOLDER STEPS: a dam breaks for so many steps, from the checkpoint in the folder if there is one,
else from its start, and then one is made half-way; prints on rank 0, as JSON, what it is at the end.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from repro.parallel import select
from repro.parallel.ranks.world import world
from repro.sph.cases import DamBreak
from repro.sph.checkpoint import restore, save
from repro.sph.fluid import Fluid
from repro.sph.observables import energy, front
from repro.sph.simulation import Simulation


def dam_break():
    """A column of soft water, which takes long steps, that spreads over three times its width."""
    return DamBreak(column=(6, 4, 8), length=3.0, height=2.0, fluid=Fluid(stiffness=2e4)).system()


def all_of(simulation) -> dict:
    """The arrays of the particles of all ranks by id, on rank 0; None on the others."""
    found = {name: simulation.gathered(values) for name, values in simulation.particles().items()}
    found.pop("ids", None)
    return found


def end_of(folder: Path, steps: int, ranks) -> dict:
    """What the water is at the end."""
    system, file = dam_break(), folder / "half.h5"
    simulation = Simulation(system, select("serial"), ranks=ranks)
    first = held(simulation)
    if file.exists():
        restore(simulation, file)
    else:
        simulation.step(steps // 2)
        save(simulation, file)
    simulation.step(steps - simulation.steps)
    here, found = simulation.particles(), all_of(simulation)
    counts = ranks.gather(np.array([len(np.setdiff1d(held(simulation), first)), len(held(simulation))]))
    if ranks.rank == 0:
        bits = b"".join(values.tobytes() for values in found.values())
        about = {
            "bits": hashlib.sha256(bits).hexdigest(),
            "entered": counts[:, 0].tolist(),
            "held": counts[:, 1].tolist(),
        }
    energies, foremost = energy(here, system, ranks), front(here, system, ranks)
    return about | {"energy": energies.total, "front": foremost} if ranks.rank == 0 else {}


def held(simulation) -> np.ndarray:
    """The ids of the particles that are here."""
    return simulation.by_id(simulation.state.ids)[0]


def main(folder: str, steps: str):
    ranks = world()
    found = end_of(Path(folder), int(steps), ranks)
    if ranks.rank == 0:
        print(json.dumps(found))
    ranks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
