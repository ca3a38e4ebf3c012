"""The particles that a process has of a system: all of them, or as one of several ranks those of a block of cells."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import numpy as np

from repro.errors import CapacityError, CheckError, DivergenceError, InputError
from repro.parallel.launch_sequence import LaunchSequence, in_turn
from repro.parallel.ranks.around import PIECE_TAG, several
from repro.parallel.ranks.blocks import blocks_for
from repro.parallel.ranks.together import together
from repro.particles.crossing import EXCHANGE, THINNEST, Crossing
from repro.particles.local_cells import NO_ID, LocalCells, local_neighbours
from repro.particles.local_particles import LocalParticles
from repro.particles.position import Units
from repro.particles.rooms import rooms_for

from .state import State, make_state
from .whole import Whole

#: places for particles on a rank, in those that it is expected to have, unless another number is asked for
ROOM = 1.25


def share_of(system, ranks, strategy: str, strategies: dict, room: float):
    """The share that this process has of a system; InputError where the strategy or the box does not allow it.

    `ranks` and `room` as of Simulation.
    """
    if not several(ranks):
        return Whole(system)
    if not strategies[strategy].TRAITS.ranks:
        can = " or ".join(repr(name) for name, module in strategies.items() if module.TRAITS.ranks)
        raise InputError(f"strategy '{strategy}' is for one rank: {can} runs on {ranks.count}")
    return Share(system, ranks, room)


class Share(Whole):
    """One of several ranks has the particles in its block of cells, and copies of those in the layer around it."""

    alone, neighbours = False, staticmethod(local_neighbours)

    def __init__(self, system, ranks, room: float):
        super().__init__(system)
        blocks = blocks_for(self.cells.shape, (True,) * 3, ranks.count, (THINNEST,) * 3, of="cells")
        self._ranks, self._blocks, self._room = ranks, blocks, room
        own, self._rooms = rooms_for(_counts(system), blocks, room)
        self.cells = LocalCells(self.cells, blocks, ranks.rank)
        # beside its particles those that arrive, and the copies of the step before, which its sort leaves out
        self.slots = own + 2 * sum(self._rooms)
        self.recordable = bool(ranks.gpus)

    @property
    def numbers(self):
        """What a kernel knows of the cells."""
        return self.cells.numbers

    def state(self, device, real, seed: int) -> State:
        """The particles that are here."""
        system = self._system
        ids = np.flatnonzero(self._is_own(Units(real).of(system.position, system.box)))
        particles = system.position[ids], system.velocity[ids], system.moving, system.box, seed
        self._held = device.to_device(np.array([len(ids)], np.int32))
        return make_state(device, real, *particles, ids=ids, slots=self.slots)

    def ordered(self, device, state: State, real) -> tuple:
        """The particles in the order of cells, and the launches that bring them into it, by name."""
        where = self.cells, real, self._held
        ordered = LocalParticles(device, state, *where)
        self._crossing = Crossing(device, state, *where, self._ranks, self._rooms)
        return ordered, self._crossing.launches() | ordered.update()

    def step(self, device, parts: dict) -> Callable:
        """The launch of all parts of a step: what the host exchanges, between two recorded sequences."""
        if self.recordable:
            return super().step(device, parts)
        middle, launches = list(parts).index(EXCHANGE), list(parts.values())
        before, after = (LaunchSequence(device, each) for each in (launches[:middle], launches[middle + 1 :]))
        return partial(in_turn, before, parts[EXCHANGE], after)

    def fill(self, device, state: State, arrays: dict) -> None:
        """Set the arrays (components, particle) of a state, by name, to those of the particles that are here."""
        own = self._is_own(arrays["r"].T)
        for name, rows in arrays.items():
            array = np.full((len(rows), self.slots), NO_ID if name == "ids" else 0, rows.dtype)
            array[:, : own.sum()] = rows[:, own]
            getattr(state, name)[:] = device.to_device(array.ravel())
        self._held[:] = int(own.sum())

    def gathered(self, arrays: dict) -> dict | None:
        """Arrays (components, particle) of the particles of all ranks, by name, on rank 0; None on the others."""
        ranks, here = self._ranks, list(arrays.values())
        counts = ranks.gather(np.array([here[0].shape[1]]))[:, 0]
        if ranks.rank:
            requests = [ranks.send(np.ascontiguousarray(array), 0, PIECE_TAG) for array in here]
            ranks.wait(requests, "rank 0, which gathers the particles")
            return None
        pieces = [here]
        for rank, count in enumerate(counts[1:], 1):
            pieces.append([np.empty((len(array), count), array.dtype) for array in here])
            requests = [ranks.receive(piece, rank, PIECE_TAG) for piece in pieces[-1]]
            ranks.wait(requests, f"the particles of rank {rank}")
        return dict(zip(arrays, map(np.hstack, zip(*pieces, strict=True)), strict=True))

    def sum(self, numbers) -> np.ndarray:
        """Over all ranks."""
        return self._ranks.sum(np.asarray(numbers))

    def together(self) -> AbstractContextManager:
        """What is done inside, all ranks do; what one of them is refused, all are."""
        return together(self._ranks)

    def check(self, state: State) -> None:
        """Raise on all ranks what any of them has seen: particles that were lost on the way, or found no room."""
        crossed, here = self._crossing.crossed(), int((state.ids != NO_ID).sum())
        seen = self._ranks.gather(np.array([crossed.lost, crossed.most, crossed.room, crossed.held, here]))
        lost, here = seen[:, 0].sum(), seen[:, 4].sum()
        if lost:
            raise DivergenceError(f"{lost} particles moved by more than a cell in a step: use a smaller time step")
        for rank, (_, most, room, held, _) in enumerate(seen):
            for found, least, where in ((most, room, "near another rank"), (held, self.slots, "with all copies")):
                if found > least:
                    more = f"start again with room above {self._room * found / least:.3g}"
                    raise CapacityError(f"rank {rank} had {found} particles {where}, and room for {least}: {more}")
        if here != self._system.count:
            raise CheckError(f"{here} particles on all ranks, of {self._system.count}: some were lost or doubled")

    def _is_own(self, whole: np.ndarray) -> np.ndarray:
        """Whether particles at positions (count, 3) in whole numbers are in this rank's block."""
        cells = self._system.cells
        places = np.unravel_index(cells.of_units(whole), cells.shape[::-1])[::-1]
        box = self._blocks.box(self._ranks.rank)
        return np.all([(first <= at) & (at < end) for at, (first, end) in zip(places, box, strict=True)], axis=0)


def _counts(system) -> np.ndarray:
    """Particles in each cell, (nz, ny, nx)."""
    cells = system.cells
    return np.bincount(cells.of(system.position), minlength=cells.count).reshape(cells.shape[::-1])
