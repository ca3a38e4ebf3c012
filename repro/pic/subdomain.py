"""A rank's subdomain: its mesh, its guards, and particles that cross to other ranks in the midst of a step."""

from functools import cached_property
from math import ceil

import numpy as np

from repro.errors import CapacityError
from repro.parallel.ranks.domain import domain_for
from repro.parallel.ranks.halo import Halo
from repro.parallel.ranks.migration import Progress, run_until_all_done

from .deposition import EDGES
from .handover import Handover
from .mesh import LEAVES, Mesh
from .state import EMPTY, record_type, rows_of

#: room on a rank over its share of all particles, which are not spread evenly all the time, and a few more for few
_UNEVEN, _FEW = 1.5, 256


class WholeDomain:
    """One rank has the whole box."""

    first, exchange = (0, 0, 0), None

    def __init__(self, system):
        self.mesh, self.room, self.wanted_capacity = system.mesh, system.room, system.wanted_capacity

    def own(self, cells: np.ndarray) -> np.ndarray:
        """Which of some cells (count, 3) are here: all."""
        return np.ones(len(cells), bool)


class Subdomain:
    """What one of several `ranks` (see `repro.parallel.ranks.world`) has of a system's box.

    Ranks that do not divide the mesh are refused, with numbers that would.
    """

    def __init__(self, system, ranks, device):
        mesh = system.mesh
        periodic = tuple(boundary == "periodic" for boundary in mesh.boundaries)
        self.ranks, self._device = ranks, device
        self.domain = domain_for(mesh.shape, periodic, ranks.count)
        beside = self.domain.neighbours(ranks.rank)
        divided = tuple(
            tuple(other not in (None, ranks.rank) for other in beside[2 * axis : 2 * axis + 2]) for axis in range(3)
        )
        self.mesh = Mesh(self.domain.local, mesh.spacing, mesh.boundaries, divided, mesh.layers)
        #: this part's first cell in the whole box
        self.first = self.domain.offset(ranks.rank)
        # all parts have one shape, and number their cells alike
        owner, inside = self.domain.owners(self.mesh.cells(np.arange(self.mesh.layout.nodes)) + np.array(self.first))
        #: of each cell and guard: the rank that has it, and its number there
        self.owner, self.there = owner.astype(np.int16), self.mesh.nodes(inside).astype(np.int32)
        self._wanted = system.wanted_capacity
        self.room = min(system.room, ceil(_UNEVEN * system.room / ranks.count) + _FEW)

    def wanted_capacity(self, particles: int) -> str:
        """What to take where so many particles found no room in this part, in words."""
        return f"{self._wanted(ceil(particles * self.ranks.count / (2 * _UNEVEN)))}, or fewer ranks"

    def exchange(self, values, components, component_step, node_step, **ends):
        """What fills the guards that are other ranks' cells, see `Fields`."""
        grid = self.mesh.guarded_grid
        if node_step == EDGES:
            return Halo(self.domain, self.ranks, values.reshape(*grid, components), self._device, "last", **ends).fill
        return Halo(self.domain, self.ranks, values.reshape(components, *grid), self._device, **ends).fill

    def own(self, cells: np.ndarray) -> np.ndarray:
        """Which of some cells (count, 3) of the whole box are in this part."""
        local = cells - np.array(self.first)
        return ((local >= 0) & (local < np.array(self.mesh.shape))).all(1)

    def sent_on(self, records: np.ndarray) -> dict[int, np.ndarray]:
        """Records of the particles that have left by the rank they go to, with the cells that they have there."""
        guards = LEAVES - records["cell"]
        owner, records["cell"] = self.owner[guards], self.there[guards]
        if len(records) and (owner != owner[0]).any():
            # as the bytes that they are, see `repro.parallel.ranks.records`
            whole = np.dtype((np.void, records.dtype.itemsize))
            records = records.view(whole)[np.argsort(owner, kind="stable")].view(records.dtype)
        counts = np.bincount(owner)
        ends = np.cumsum(counts)
        return {int(rank): records[ends[rank] - counts[rank] : ends[rank]] for rank in np.flatnonzero(counts)}


class Crossing:
    """The end of a step on one rank: particles that left are handed over and go on there, until none is in transit.

    `move` moves all particles by a step, `move.resume` the ones in the midst of it. `counts` are those of the last
    step, see `repro.parallel.ranks.migration`.
    """

    def __init__(self, simulation, move):
        self._subdomain, self._device = simulation.subdomain, simulation.device
        self._particles, self._used = simulation.particles_on_device, simulation.used
        self._move, self._real = move, simulation.real
        source = simulation.system.source
        self._added = source.per_step if source else 0
        self._record, self._held, self._before, self.counts = record_type(simulation.real), None, 0, None
        #: called with what happens in a step, see `repro.parallel.ranks.migration`
        self.notice = None

    def count(self) -> None:
        """Count the particles that are here, before a step."""
        self._make_room(self._added)
        self._held, self._before = self._here(), int(self._used[0])

    def _here(self) -> int:
        return _number(self._device, self._particles.cell >= 0)

    def __call__(self):
        """The particles' part of a step, on all ranks together."""
        self._first = True
        self.counts = run_until_all_done(self._work, self._subdomain.ranks, self._record, self._held, self.notice)

    def _work(self, arrived: np.ndarray) -> Progress:
        before = self._before
        if self._first:
            # all particles move, and later only those that arrive
            self._first, self._start, self._settled = False, 0, 0
            self._move()
        elif len(arrived):
            before = self._put(arrived)
            self._move.resume()
        return self._progress(before)

    def _put(self, arrived: np.ndarray) -> int:
        """Put arrivals behind the particles that are here; returns how many entries are then in use."""
        count, room = len(arrived), len(self._particles.cell)
        self._make_room(count)
        self._start = int(self._used[0])
        end = self._start + count
        if end > room:
            raise CapacityError(
                f"{count} particles arrive on rank {self._subdomain.ranks.rank}, where {self._start} of {room} entries "
                f"are in use: take {self._subdomain.wanted_capacity(end)}"
            )
        self._handover.put(arrived, self._start)
        self._used[:] = end
        return end

    def _make_room(self, count: int) -> None:
        """If so many more do not fit behind the particles here, the last of these go into the gaps that others left."""
        cell, xp = self._particles.cell, self._device.xp
        if int(self._used[0]) + count <= len(cell):
            return
        here = xp.flatnonzero(cell != EMPTY)
        last, gaps = here[here >= len(here)], xp.flatnonzero(cell[: len(here)] == EMPTY)
        for rows in rows_of(self._particles):
            rows[:, gaps] = rows[:, last]
        cell[last] = EMPTY
        self._used[:] = len(here)

    def _progress(self, before: int) -> Progress:
        """What is to be sent, and how many appeared and disappeared since so many entries were in use."""
        used = int(self._used[0])
        if used > len(self._particles.cell):
            raise CapacityError(
                f"{used} particles on rank {self._subdomain.ranks.rank}, and room for {len(self._particles.cell)}: "
                f"take {self._subdomain.wanted_capacity(used)}"
            )
        # those that have moved since the last time
        leavers, absorbed = self._handover.leavers(self._start, used)
        self._settled += _number(self._device, self._particles.cell[self._start : used] >= 0)
        self._start = self._before = used
        return Progress(leavers, 0, self._settled, created=used - before, absorbed=absorbed)

    @cached_property
    def _handover(self) -> Handover:
        owner, there = self._subdomain.owner, self._subdomain.there
        return Handover(self._device, self._real, self._particles, owner, there, self._subdomain.ranks.count)


def _number(device, flags) -> int:
    return int(device.xp.count_nonzero(flags))
