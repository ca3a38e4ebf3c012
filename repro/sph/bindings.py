"""Kernels of a system on a device, bound to their arguments: what is passed over and over is written down once."""

from functools import partial

import numpy as np

from repro.errors import require
from repro.parallel import Kernel
from repro.parallel.launch_sequence import in_turn
from repro.particles.launch import sequence
from repro.particles.position import Units

from .integrate import free, kick, kick_with_rate, make_drift, make_foresee, make_held
from .marks import OWN, of_marked
from .neighbour_sums import LARGEST, NeighbourSum
from .state import numbers
from .strategies import SEARCHES
from .strategies.neighbour_list import ENTRIES
from .strategies.search import ROWS
from .sum_kernels import (
    listed,
    make_accumulate,
    make_extrapolation,
    make_listed_sums,
    make_pair_sums,
    make_pair_total,
    make_particle_sums,
    make_row_sums,
    make_row_total,
    make_side_by_side,
    shared,
)

#: most registers of a sum that visits a list: more would leave so few warps that each waits, see docs/performance.md
LISTED_REGISTERS = {np.float32: 64}

#: which sum over neighbours it is: the first one of a step, the second one, over the same places, the only one, or none
FIRST, SECOND, ONLY, ALONE = "first", "second", "only", "alone"


class Bindings:
    """Binds kernels for the `share` of `system`, see `ranks`, on a device, with the search named `strategy`."""

    def __init__(self, device, real, system, strategy: str, few: int, share):
        self.device, self.real, self.system = device, real, system
        #: entries of the fluid's arrays, and what each of them is where some are no particles of this rank
        self.count, self._marks = share.room, share.marks
        self.search, self._kernel = SEARCHES[strategy], system.resolution.smoothing_kernel
        gpu = device.name == "cuda"
        one_core = not gpu and device.workers == 1
        require(one_core or not self.search.ahead, f"'{strategy}' meets each pair once, on one core: not on {device}")
        self.walk = self.search.walk_on_gpu if gpu else self.search.walk
        #: whether threads share a particle's sum
        self.shared = self.search.shares and shared(device, self.count, few)
        #: the list of neighbours that the first sum of a step makes, where there is one
        self._list = None
        if listed(device, self.search, self.count, few):
            self._list = device.zeros(2 * ENTRIES * self.count, np.uint32)
        self._cached_words = 0 if gpu else self.search.cached_words
        self._numbers, self._cells = numbers(system, real), system.cells.shape
        #: positions of the three lower and the three upper walls
        corners = np.array([np.full(3, system.margin), np.add((*system.tank[:2], system.ceiling), system.margin)])
        self._faces = tuple(Units(real).of(corners, system.box).ravel())
        #: partial sums of the rows of cells, where threads share
        self._rows = device.zeros(ROWS * LARGEST * self.count, np.float64) if self.shared else None
        #: sums of each particle that its pairs before have added to
        self._reactions = device.zeros(LARGEST * self.count, np.float64) if self.search.ahead else None

    def launch(self, body, items, *arguments, registers=None):
        """The launch of a body over so many items, on a GPU with at most so many registers a thread."""
        kernel = Kernel(body, dtype=self.real, strict=True, registers=registers)
        return self.device.compile(kernel)((items,), *arguments)

    def of_fluid(self, body, items, *arguments, registers=None):
        """The launch of a body over the entries of the fluid, or several items of each: those of own particles."""
        if self._marks is None:
            return self.launch(body, items, *arguments, registers=registers)
        return self.launch(of_marked(body, OWN), items, self._marks, self.count, *arguments, registers=registers)

    def with_cache(self, species):
        """The species with room for its neighbours of each particle of the fluid."""
        room = self.device.zeros(max(1, self._cached_words * self.count), np.uint32)
        return species._replace(cached_neighbours=room)

    def sum(self, terms: NeighbourSum, order: str, result, neighbours: dict, *, static=False, besides=()):
        """The launch of a sum over all types of neighbours, species by name, into `result`.

        `order` says which of a step's two sums over the same places it is, FIRST or SECOND, or that it is a step's ONLY
        one, or of no step, ALONE.
        A `static` one takes no time: it adds nothing to the condensation. Bodies `besides`, each with its items and
        arguments, are run in the kernel of a shared sum.
        """
        count, p = self.count, self._numbers
        if static:
            p = p._replace(divergence=np.float64(0), diffusion=np.float64(0))
        if self._list is not None and order != ALONE:
            body = make_listed_sums(self.real, self._kernel, self.search, terms, tuple(neighbours), order != SECOND)
            species = self._faces, p, self._cells, *neighbours.values()
            listed = result, self._list, *species
            return self.of_fluid(body, count, *listed, registers=LISTED_REGISTERS.get(self.real))
        walk = self.walk
        if self.device.name != "cuda":
            walk = {FIRST: self.search.first_walk, SECOND: self.search.second_walk}.get(order, walk)
        met = {name: species for name, species in neighbours.items() if name != "fluid" or not self.search.ahead}
        accumulate = make_accumulate(self.real, self._kernel, walk, terms.equation, tuple(neighbours), tuple(met))
        species = self._faces, p, self._cells, *neighbours.values()
        if self.search.ahead:
            body = make_pair_sums(self.real, self._kernel, terms, self.search.ahead, accumulate)
            pairs = self.launch(body, count, self._reactions, *species)
            taken = result, self._reactions, self._faces, p, neighbours["fluid"]
            return partial(in_turn, pairs, self.launch(make_pair_total(terms), count, *taken))
        if not self.shared:
            return self.of_fluid(make_particle_sums(terms, accumulate), count, result, *species)
        body, items, arguments = make_row_sums(terms, accumulate), ROWS * count, (self._rows, *species)
        for other, number, taken in besides:
            body, items = make_side_by_side(other, body, len(taken)), number + items
            arguments = number, *taken, *arguments
        parts = self.of_fluid(body, items, *arguments)
        end = self.of_fluid(make_row_total(terms), count, result, self._rows, self._faces, p, neighbours["fluid"])
        return partial(in_turn, parts, end)

    def motion(self, state, excursion, *, free_to_go: bool, foresee=None):
        """The launches that move particles, drift and kick; walls hold back those that are not free to go.

        The condensation goes along by `foresee`, if that is given.
        """
        system, real = self.system, self.real
        units, dt = Units(real), real(system.dt)
        arrays = state.r, state.v, state.u, state.a, state.ids, excursion
        scales = units.per_length(system.box), units.lengths(system.box)
        body = make_drift(real, free if free_to_go else make_held(real))
        count, moved = state.count, (*arrays, dt, *scales, self._faces, state.count)
        kicked = state.v, state.a, dt
        if foresee is None:
            return self.of_fluid(body, count, *moved), self.of_fluid(kick, 3 * count, *kicked)
        ahead, foreseen = foresee
        drift = self.of_fluid(sequence(body, ahead, len(moved)), count, *moved, *foreseen)
        return drift, self.of_fluid(kick_with_rate, 3 * count, *kicked, state.s, count)

    def foresee(self, state, least) -> tuple:
        """Body and arguments of half a step of the condensation; the pressure is that of at least `least`."""
        return make_foresee(self.real, least), (state.s, state.a, state.term, self._numbers.stiffness, state.count)

    def extrapolation(self, fluid, ghosts) -> tuple:
        """Body, items and arguments of what gives ghosts the fluid's velocity and pressure."""
        body = make_extrapolation(self.real, self._kernel, self.search, self.walk)
        return body, ghosts.count, (fluid, ghosts, self._numbers, self._cells)
