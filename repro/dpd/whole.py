"""The particles that a process has where it is the only one: all of a system's; of several ranks see `ranks`."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import numpy as np

from repro.parallel.launch_sequence import in_turn
from repro.particles.cell_permutation import SortedParticles
from repro.particles.sorted_cells import all_neighbours

from .state import State, make_state


class Whole:
    """One rank has all particles, and exchanges nothing."""

    alone, neighbours = True, staticmethod(all_neighbours)
    #: whether what a step launches can be recorded in a graph
    recordable = True

    def __init__(self, system):
        self._system, self.cells = system, system.cells
        #: places for particles in the arrays
        self.slots = system.count

    @property
    def numbers(self):
        """What a kernel knows of the cells."""
        return self.cells.shape

    def state(self, device, real, seed: int) -> State:
        """The particles that are here."""
        system = self._system
        return make_state(device, real, system.position, system.velocity, system.moving, system.box, seed)

    def ordered(self, device, state: State, real) -> tuple:
        """The particles in the order of cells, and the launches that bring them into it, by name."""
        ordered = SortedParticles(device, state, self.cells, real)
        return ordered, ordered.update()

    def step(self, device, parts: dict) -> Callable:
        """The launch of all parts of a step."""
        return partial(in_turn, *parts.values())

    def fill(self, device, state: State, arrays: dict) -> None:
        """Set the arrays (components, particle) of a state, by name, to those of all particles."""
        for name, rows in arrays.items():
            getattr(state, name)[:] = device.to_device(rows.ravel())

    def gathered(self, arrays: dict) -> dict | None:
        """Arrays (components, particle) of the particles of all ranks, by name, on rank 0; None on the others."""
        return arrays

    def sum(self, numbers) -> np.ndarray:
        """Over all ranks."""
        return np.asarray(numbers)

    def together(self) -> AbstractContextManager:
        """What is done inside, all ranks do; what one of them is refused, all are."""
        return nullcontext()

    def check(self, state: State) -> None:
        """Nothing crosses."""
