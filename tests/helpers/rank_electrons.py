"""Electrons on several ranks: moves them, and prints what they are at the end of each case as JSON on rank 0.

python rank_electrons.py CASE STEPS [CASE STEPS ...]
"""

import hashlib
import json
import sys
import warnings

import numpy as np

from repro.parallel import CpuDevice
from repro.parallel.ranks.world import world
from repro.pic.air.collision_tables import Collisions
from repro.pic.constants import CHARGE, LIGHT, MASS
from repro.pic.mesh import Mesh
from repro.pic.simulation import Simulation
from repro.pic.strategies import baskets
from repro.pic.system import Electrons, Source, System

#: boundaries, strategy, and what electrons collide with
CASES = {
    "periodic": (("periodic",) * 3, "batches", None),
    # a particle that leaves makes a gap, and room for arrivals runs out every few steps
    "unsorted": (("periodic",) * 3, "batches", None),
    "walls": (("conducting", "periodic", "conducting"), "batches", None),
    "baskets": (("conducting", "periodic", "conducting"), baskets(blocks=3, threads=8, basket=4, every=4), None),
    "air": (("periodic",) * 3, "in air", Collisions(cut=2e3, stop=2e3)),
    "air in baskets": (("periodic",) * 3, baskets(blocks=3, threads=8, basket=20), Collisions(cut=2e3, stop=2e3)),
}


def system(boundaries, air) -> System:
    """Fast electrons that cross several parts of the box in a few steps, some given and some from a source."""
    spacing = np.array([1.0, 1.1, 0.9]) * 1e-3
    dt = 0.9 / (LIGHT * float(np.sqrt((spacing**-2).sum())))
    mesh = Mesh((14, 12, 6), tuple(spacing), boundaries)
    rng = np.random.default_rng(1)
    given = Electrons(rng.random((200, 3)) * mesh.length, rng.normal(size=(200, 3)), np.full(200, 500.0))
    source = Source(1e5, 1e3, start=300, per_step=2)
    field = 0.3 * MASS / (CHARGE * dt)
    return System(mesh, dt, given, source, (0.1 * field, 0, field), capacity=3000, air=air)


def all_particles(simulation, ranks) -> np.ndarray:
    """The particles of all ranks by id, a row each."""
    found = simulation.particles()
    here = len(found["ids"])
    counts = np.zeros(ranks.count, np.int64)
    counts[ranks.rank] = here
    counts = ranks.sum(counts)
    rows = np.zeros((counts.sum(), 8), np.int64)
    first = counts[: ranks.rank].sum()
    vectors = np.column_stack([found["position"], found["momentum"], found["weight"]])
    rows[first : first + here, 0], rows[first : first + here, 1:] = found["ids"], vectors.view(np.int64)
    rows = ranks.sum(rows)
    return rows[np.argsort(rows[:, 0])]


def end_of(case: str, steps: int, ranks) -> dict:
    """What the electrons of all ranks are after so many steps."""
    boundaries, strategy, air = CASES[case]
    device = CpuDevice("threads", workers=1)
    options = {"strategy": strategy, "precision": "double", "sort_every": 0 if case == "unsorted" else 6}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulation = Simulation(system(boundaries, air), device, ranks=ranks, **options)
        simulation.step(steps)
    rows = all_particles(simulation, ranks)
    different, digest = len(np.unique(rows[:, 0])), hashlib.sha256(rows.tobytes()).hexdigest()
    return {"count": len(rows), "different": different, "digest": digest}


def main(*words: str):
    ranks = world()
    found = [end_of(case, int(steps), ranks) for case, steps in zip(words[::2], words[1::2], strict=True)]
    if ranks.rank == 0:
        print(json.dumps(found))
    ranks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
