"""A run's share of the fluid where it is all of it: what a run asks of its share, see `ranks` for that of several."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from repro.particles.position import vectors

from .ghosts import Sites
from .strategies.search import Lists


class Whole:
    """One rank has all particles, and exchanges nothing."""

    #: what each entry of the fluid's arrays is, where some are free or copies
    alone, marks = True, None
    #: the share of all cells that is here
    part = 1.0

    def __init__(self, system):
        self._system = system
        #: entries of the fluid's arrays
        self.room = system.count

    def enter(self, device, whole: np.ndarray) -> None:
        """Take those of the particles at positions (count, 3) in whole numbers, by id, that are here."""

    def on_device(self, device, rows: np.ndarray):
        """Rows of numbers of all particles, by id, as a flat array of those that are here."""
        return vectors(device, rows)

    def sites(self, sites: Sites) -> Sites:
        """Those of some ghosts that are needed here."""
        return sites

    def order(self, device, ids) -> np.ndarray:
        """The entries of the particles that are here, by id."""
        return np.argsort(device.to_host(ids))

    def lists(self, device, search, state, real) -> Lists:
        """The fluid's table of cells."""
        return search.lists(device, self._system.cells, state, real)

    def connect(self, device, state, density: str, ghosts) -> None:
        """Prepare what is exchanged of the fluid and of the ghosts that follow it."""

    def arranged(self, density: dict, followers: dict, forces: dict) -> dict:
        """The launches of a step's sums by name: what gives ghosts the fluid's velocity and pressure in their midst."""
        return density | followers | forces

    def stages(self, device, launches) -> list:
        """A step's launches, as they are called."""
        return list(launches)

    def agree(self, check: Callable[[], None]) -> None:
        """Check, on all ranks."""
        check()

    def together(self) -> AbstractContextManager:
        """What is done inside, all ranks do; what one of them is refused, all are."""
        return nullcontext()

    def most(self, values: np.ndarray) -> np.ndarray:
        """The largest values of all ranks."""
        return values
