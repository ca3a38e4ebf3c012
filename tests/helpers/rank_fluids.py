"""DPD fluids on several ranks, and one rank's part of tests/dpd/test_dpd_ranks.py.

python rank_fluids.py STEPS FOLDER: prints on rank 0, as JSON, what the fluid of each case is after so many steps.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from repro.dpd import checkpoint
from repro.dpd.averages import Averages
from repro.dpd.cases import Bulk, Poiseuille
from repro.dpd.fluid import Fluid
from repro.dpd.observables import temperature
from repro.dpd.simulation import Simulation
from repro.dpd.system import System
from repro.dpd.walls import Walls
from repro.parallel import select
from repro.parallel.ranks.world import world

#: sides that are no whole numbers; a flow so strong that much crosses
CASES = {
    "bulk": Bulk((8.5, 9.1, 4.3), Fluid(temperature=2.0, dt=0.04)).system(),
    "flow": Poiseuille(7.3, 4.2, 5.0, drive=0.5).system(),
}


def scattered(box, count, *, seed=1, speed=1.0, share=1.0, frozen=0, walls=None, drive=0.0) -> System:
    """Particles at random places of a `share` of each side; the last ones are frozen."""
    chance, box = np.random.default_rng(seed), tuple(map(float, box))
    position, velocity = chance.uniform(0, share * np.array(box), (count, 3)), chance.normal(0, speed, (count, 3))
    velocity[count - frozen :] = 0
    fluid = Fluid(temperature=1.0, dt=0.05)
    return System(fluid, box, position, velocity, count - frozen, walls or Walls(), drive=drive)


def bits(particles) -> str:
    """Of positions, velocities and forces."""
    return hashlib.sha256(b"".join(values.tobytes() for values in particles.values())).hexdigest()


def facts(ranks, steps: int, folder: Path) -> dict:
    """The fluid of each case after so many steps, and after as many more from a checkpoint; on rank 0."""
    found = {}
    for name, system in CASES.items():
        simulation = Simulation(system, select("serial"), ranks=ranks, strategy="sorted cells", seed=5)
        averages = Averages(simulation, columns=2, rows=5)
        simulation.step(steps, every=5, observers=[averages])
        first, field, heat = simulation.particles(), averages.take(), temperature(simulation)
        checkpoint.save(simulation, folder / f"{name}.h5")
        simulation = checkpoint.load(folder / f"{name}.h5", select("serial"), ranks=ranks)
        simulation.step(steps)
        second = simulation.particles()
        if ranks.rank == 0:
            means = [heat, field.samples, *field.density.ravel(), *field.velocity_x.ravel()]
            found[name] = bits(first), bits(second), means
    return found


def main(steps: str, folder: str):
    ranks = world()
    found = facts(ranks, int(steps), Path(folder))
    if ranks.rank == 0:
        print(json.dumps(found))
    ranks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
