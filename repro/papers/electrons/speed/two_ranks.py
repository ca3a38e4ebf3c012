"""One of the ranks of the timeline: python -m repro.papers.electrons.speed.two_ranks ANSWER; each writes a file."""

import sys
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from repro.files import write_json
from repro.papers.electrons.algorithm.plain import PlainPython
from repro.parallel.ranks.world import world
from repro.pic.cases import UniformSource
from repro.pic.simulation import Simulation
from repro.pic.strategies import baskets
from repro.pic.system import Electrons, System

#: the paper's electrons on few cells, so that they cross between the ranks within a step; in plain Python
CASE = UniformSource(cells=4, per_cell=0.75, radius=3.0)
STRATEGY = baskets(blocks=2, threads=4, basket=8, every=2, fields="device")


def system() -> System:
    """All electrons in the lower half of the box, which is one rank's: the other has nothing to do until some come."""
    whole, draw = CASE.system(), np.random.default_rng(CASE.seed)
    shape = CASE.particles, 3
    way = draw.normal(size=shape)
    momentum = CASE.source.momentum * way / np.linalg.norm(way, axis=1)[:, None]
    place = draw.random(shape) * whole.mesh.length * np.array([1.0, 1.0, 0.5])
    return replace(whole, source=None, electrons=Electrons(place, momentum, np.full(len(place), CASE.weight)))


def main(answer: str):
    """Take a step, and note what happens in it."""
    ranks = world()
    simulation = Simulation(system(), PlainPython(), strategy=STRATEGY, ranks=ranks)
    simulation.start()
    # the same moment on all ranks
    ranks.until(ranks.barrier().Test, "the start of the timeline")
    found, start = [], perf_counter()
    simulation.crossing.notice = lambda what, number: found.append((perf_counter() - start, what, number))
    simulation.advance(1)
    write_json(Path(f"{answer}.{ranks.rank}"), {"events": found, "counts": asdict(simulation.crossing.counts)})
    ranks.finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
