"""A step of a few electrons, launch by launch, with what stands in the domains and baskets after each."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from repro.pic.constants import LIGHT
from repro.pic.mesh import Mesh
from repro.pic.packing import record_type
from repro.pic.simulation import Simulation
from repro.pic.state import EMPTY
from repro.pic.strategies import baskets
from repro.pic.strategies.domains import domains_of
from repro.pic.strategies.host_loop import StepLaunches
from repro.pic.system import Electrons, Source, System

#: two blocks of two threads, whose baskets hold one particle
BLOCKS, THREADS, BASKET = 2, 2, 1

#: cells along x, a cell's side in m, and the way of light in a step, in cells
CELLS, SIDE, WAY = 4, 1e-3, 0.55

#: what the electrons do: place along x and y in cells, and velocity over c along both
ELECTRONS = {
    "stays": (1.5, 0.5, 0.3, 0.0),
    "meets a face": (1.7, 0.5, 0.9, 0.0),
    "meets two faces": (1.8, 0.7, 0.65, 0.7),
    "is absorbed": (0.2, 0.5, -0.9, 0.0),
    "leaves": (3.8, 0.5, 0.9, 0.0),
}

#: who is where at the start, one after the other over the four threads
ORDER = (
    *("meets a face", "is absorbed", "stays", "stays"),
    *("stays", "meets two faces", "is absorbed", "leaves"),
    *("meets a face", "stays", "meets a face", "stays"),
)

#: the name of the particle that arrives from a neighbour when one has left for it
ARRIVES = 90


@dataclass(frozen=True)
class Look:
    """What stands in memory between two launches: particles by their ids, and each thread's pointers (elements)."""

    #: ids by element for each thread, -1 where there is none
    domains: list[list[int]]
    read: list[int]
    write: list[int]
    end: list[int]
    #: ids in the baskets of each block, and of those that wait at the host
    incoming: list[list[int]]
    outgoing: list[list[int]]
    waiting: list[int]
    #: launches in which each thread had a particle
    busy: list[int]


def simulation(device, exchange) -> Simulation:
    """The electrons of `ORDER` between a wall on the left and a neighbour on the right; two are born in a step."""
    mesh = Mesh((CELLS, 1, 1), (SIDE,) * 3, ("conducting", "periodic", "periodic"))
    x, y, vx, vy = np.array([ELECTRONS[name] for name in ORDER]).T
    gamma = 1 / np.sqrt(1 - vx**2 - vy**2)
    # none is exactly where another is
    shift = 1e-3 * np.arange(len(x))
    position = SIDE * np.stack([x - shift, y, 0.5 + 0 * x], axis=1)
    momentum = np.stack([gamma * vx, gamma * vy, 0 * vx], axis=1)
    electrons = Electrons(position, momentum, np.ones(len(x)))
    source = Source(energy=1e3, weight=1.0, per_step=2, seed=4)
    system = System(mesh, WAY * SIDE / LIGHT, electrons, source, capacity=20, self_field=False, name="a few electrons")
    strategy = baskets(blocks=BLOCKS, threads=THREADS, basket=BASKET, every=1, fields="device", exchange=exchange)
    found = Simulation(system, device, strategy=strategy, precision="double")
    # behind the right end is no wall but a neighbour
    nodes = np.arange(mesh.layout.nodes)
    right = nodes[mesh.cells(nodes)[:, 0] == CELLS]
    beyond = mesh.neighbour_cell.copy()
    # a particle that leaves through the right end says so by its cell
    beyond[right] = -100
    found.step_arguments[1].neighbour_cell[:] = device.to_device(beyond)
    return found


class Neighbour:
    """What is beyond the right end: it takes those that leave, and sends one back for the first."""

    def __init__(self, cell: int):
        self.taken: list[int] = []
        self._sent = np.zeros(1, record_type(np.float64))
        self._sent["cell"], self._sent["place"], self._sent["weight"] = cell, (0.9, 0.5, 0.5), 1.0
        self._sent["u"], self._sent["ids"], self._sent["left"] = (-0.5, 0, 0), ARRIVES, 0.6

    def __call__(self, departed: np.ndarray, done: bool):
        """The exchange of `repro.pic.strategies.baskets`."""
        if done and not len(departed):
            return None
        first = len(departed) and not self.taken
        self.taken += departed["ids"].tolist()
        return self._sent if first else self._sent[:0]


def step(device) -> tuple[list[Look], StepLaunches, Neighbour]:
    """A step: what one sees before the first launch and after each, what it took, and who is at the neighbour's.

    What follows a launch is seen before the host looks at the baskets.
    """
    last = Mesh((CELLS, 1, 1), (SIDE,) * 3).nodes([[CELLS - 1, 0, 0]])[0]
    neighbour = Neighbour(int(last))
    found = simulation(device, neighbour)
    found.start()
    host_loop = found.parts["particles"]
    host_loop.begin()
    going, looks = host_loop.look(), [look(found)]
    while going:
        host_loop.launch()
        looks.append(look(found))
        going = host_loop.look()
    host_loop.end()
    return looks, host_loop.last, neighbour


def look(found: Simulation) -> Look:
    """What stands in memory now."""
    host, host_loop, particles = found.device.to_host, found.parts["particles"], found.particles_on_device
    named = np.where(host(particles.cell) == EMPTY, -1, host(particles.ids))
    domains = [named[entries].tolist() for entries in domains_of(particles, host_loop.counts.threads)]
    threads = host_loop.threads
    read, write, end, busy = (host(p).tolist() for p in (threads.read, threads.write, threads.end, threads.busy))

    def held(buffer, counts):
        ids = host(buffer.ids)
        return [ids[block::BLOCKS][:filled].tolist() for block, filled in enumerate(host(counts))]

    incoming = held(host_loop.incoming, host_loop.counts.incoming)
    outgoing = held(host_loop.outgoing, host_loop.counts.outgoing)
    return Look(domains, read, write, end, incoming, outgoing, host_loop.waiting["ids"].tolist(), busy)


def who() -> pd.DataFrame:
    """What becomes of each electron in the step, by number."""
    kinds = dict.fromkeys(ORDER)
    rows = [(", ".join(str(k) for k, each in enumerate(ORDER) if each == kind), kind) for kind in kinds]
    rows += [(f"{len(ORDER)}, {len(ORDER) + 1}", "is born in the step"), (str(ARRIVES), "comes from a neighbour")]
    return pd.DataFrame(rows, columns=["electron", "what becomes of it"])


def table(looks: list[Look]) -> pd.DataFrame:
    """What each launch found: busy threads, those in baskets after it, done and still to do."""
    rows = []
    for number, (before, after) in enumerate(pairwise(looks), start=1):
        busy = sum(after.busy) - sum(before.busy)
        unread = sum(end - read for end, read in zip(after.end, after.read, strict=True))
        baskets = [sum(map(len, names)) for names in (after.incoming, after.outgoing)]
        rows.append((number, busy, sum(after.write), unread, *baskets, len(after.waiting)))
    particles = ["at the end of the step", "to be read or in work", "incoming", "outgoing", "at the host"]
    return pd.DataFrame(rows, columns=["launch", "busy threads", *particles])
