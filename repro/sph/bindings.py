"""Kernels of a system on a device, bound to their arguments: what is passed over and over is written down once."""

from functools import cached_property, partial

import numpy as np

from repro.parallel import Kernel
from repro.particles.position import Units

from .gather import beside, end_body, rows_body, shared, whole_body
from .ghost_sums import air_body, extrapolation_body
from .ghosts import GAP
from .integrate import drift_body, free, held, kick_body
from .kernels import KERNELS
from .state import numbers
from .strategies import STRATEGIES
from .strategies.lists import ROWS
from .sums import LARGEST


class Bindings:
    """Binds kernels for `system` on a device, with the search of strategies.STRATEGIES named `strategy`."""

    def __init__(self, device, real, system, strategy: str):
        self.device, self.real, self.system = device, real, system
        search = STRATEGIES[strategy]
        self.search, self._kernel = search, KERNELS[system.resolution.kernel]
        gpu = device.name == "cuda"
        self.walk = search.walk_on_gpu if gpu else search.walk
        #: of the two sums in a step, the second one over the same places
        self.first, self.again = (self.walk, self.walk) if gpu else (search.walk_and_keep, search.walk_again)
        self._kept = 0 if gpu else search.KEPT
        #: whether threads share a particle's sum
        self.shared = search.SHARES and shared(device, system.count)
        self._numbers, self._cells = numbers(system, real), system.cells.shape

    def one(self, body, items, *arguments):
        """The launch of a body over so many items."""
        return self.device.compile(Kernel(body, dtype=self.real, strict=True))((items,), *arguments)

    @cached_property
    def _faces(self):
        """Positions of the three lower and the three upper walls."""
        system = self.system
        corners = np.array([np.full(3, system.margin), np.add(system.tank, system.margin)])
        return tuple(Units(self.real).of(corners, system.box).ravel())

    @cached_property
    def _rows(self):
        """Partial sums of the rows of cells."""
        return self.device.zeros(ROWS * LARGEST * self.system.count, np.float64)

    def kept(self, species):
        """The species with room for who of it is near each particle of the fluid."""
        room = self.device.zeros(max(1, self._kept * self.system.count), np.uint32)
        return species._replace(near=room)

    def total(self, make, walk, target, neighbours: dict, *, still=False, besides=(), **options):
        """The launch of a sum over all kinds of neighbours, species by name, into `target`; `make` is of `sums`.

        A `still` one takes no time: it adds nothing to the condensation. Bodies
        `besides`, each with its items and arguments, are run in the kernel of a shared sum.
        """
        terms, count = make(self.real, self._kernel, walk, tuple(neighbours), **options), self.system.count
        p = self._numbers._replace(divergence=np.float64(0), diffusion=np.float64(0)) if still else self._numbers
        species = self._faces, p, self._cells, *neighbours.values()
        if not self.shared:
            return self.one(whole_body(terms), count, target, *species)
        body, items, arguments = rows_body(terms), ROWS * count, (self._rows, *species)
        for other, number, taken in besides:
            body, items = beside(other, body, len(taken)), number + items
            arguments = number, *taken, *arguments
        parts = self.one(body, items, *arguments)
        end = self.one(end_body(terms), count, target, self._rows, self._faces, p, neighbours["fluid"])
        return partial(_in_turn, parts, end)

    def motion(self, state, excursion, *, free_to_go: bool):
        """The launches that move particles, drift and kick; walls hold back those that are not free to go."""
        system, real = self.system, self.real
        units, dt = Units(real), real(system.dt)
        arrays = state.r, state.v, state.u, state.a, state.ids, excursion
        scales = units.per_length(system.box), units.lengths(system.box)
        body = drift_body(real, free if free_to_go else held(real))
        drift = self.one(body, state.count, *arrays, dt, *scales, self._faces, state.count)
        return drift, self.one(kick_body(real), 3 * state.count, state.v, state.a, dt)

    def extrapolation(self, fluid, ghosts) -> tuple:
        """Body, items and arguments of what gives ghosts the fluid's velocity and pressure."""
        body = extrapolation_body(self.real, self._kernel, self.walk, self.search.anyone)
        return body, ghosts.count, (fluid, ghosts, self._numbers, self._cells)

    def sampling(self, fluid, air):
        """The launch that finds out which sites in the air hold a ghost."""
        gap = self.real((GAP / self.system.resolution.ratio) ** 2)
        body = air_body(self.real, self.walk, self.search.anyone)
        return self.one(body, air.count, fluid, air, gap, self._numbers, self._cells)


def _in_turn(*launches):
    for launch in launches:
        launch()
