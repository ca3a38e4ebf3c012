"""The host's side of the paper's strategy: launches until all particles are done, between them transfer buffers."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from repro.errors import CapacityError, InputError
from repro.parallel import Kernel, zero
from repro.parallel.launch_sequence import LaunchSequence
from repro.parallel.ranks.records import joined

from ..air.transport import air_arguments
from ..packing import put_records, record_type, taken_records
from ..particle_source import SourceTarget, count_steps
from ..state import DEFERRED, make_particles
from .domains import (
    LEFT,
    ON_THE_WAY,
    Counts,
    Sums,
    Threads,
    add_blocks,
    entry_of,
    find_ends,
    make_segment_kernel,
    take_stock,
)
from .domains_in_air import make_air_kernel

#: what clears a few numbers, and the sums of all blocks, of which small blocks of threads would be millions
_FEW, _MANY = Kernel(zero, block=32), Kernel(zero, block=1024)

#: registers that a multiprocessor has for its block
_REGISTERS = 65536


class Options(NamedTuple):
    """The choices of `transfer_buffers.baskets`."""

    blocks: int | None
    threads: int | None
    basket: int
    every: int
    exchange: Callable | None


class StepLaunches(NamedTuple):
    """What a step took."""

    #: launches until all particles were at its end, and the share of threads that had one, in the mean of them
    launches: int
    busy: float
    #: segments that were built, and times that the host filled the incoming buffers
    segments: int
    filled: int


def shares(count: int, most: np.ndarray) -> np.ndarray:
    """How many of `count` particles each buffer gets: as even as `most`, what it has room for, allows."""
    given = np.zeros_like(most)
    while count and (given < most).any():
        free = np.flatnonzero(given < most)[:count]
        more = np.minimum(max(1, count // len(free)), (most - given)[free])
        given[free] += more
        count -= int(more.sum())
    return given


class HostLoop:
    """A step's launches, made by the host until all particles are done."""

    def __init__(self, simulation, options: Options):
        device, real = simulation.device, simulation.real
        self._simulation, self._options, self._room = simulation, options, len(simulation.particles_on_device.cell)
        self.blocks, per_block = options.blocks, options.threads
        total, basket = self.blocks * per_block, options.basket
        self.threads = Threads(*(device.zeros(total, np.int32) for _ in Threads._fields))
        self.incoming, self.outgoing = (make_particles(device, real, self.blocks * basket) for _ in range(2))
        filled = (device.zeros(self.blocks, np.int32) for _ in range(2))
        self.counts = Counts(*filled, basket, per_block, total)
        fields = simulation.step_arguments[0]
        self.sums = Sums(device.zeros(self.blocks * len(fields.currents), np.int64), per_block)
        in_air = simulation.system.air is not None
        if in_air and basket < per_block:
            raise InputError(f"baskets for {basket} in air: at least as many as the {per_block} threads of a block")
        #: the step, as the device counts it
        self._clock = simulation.clock if simulation.fields.device is device else device.zeros(1, np.int64)
        #: see `domains.take_stock`
        self.stock, self._seen = device.zeros(2, np.int32), None
        # secondaries wait at the host: none appears among the particles
        self._air = air_arguments(simulation, self._clock, self.stock) if in_air else ()
        #: what electrons in air have done so far, see `air.tallies`
        self.tallies = self._air[0].tallies if in_air else None
        self._sequences = {name: LaunchSequence(device, launches) for name, launches in self._bind(simulation).items()}
        self._inject = _make_injection(simulation)
        #: electrons that collisions have set free in this step
        self.set_free = 0
        #: particles on the host that no buffer has had room for yet
        self.waiting = np.empty(0, record_type(real))
        self.launches, self.filled = 0, 0
        #: elements of each block's domains
        self._elements = ((self._room - np.arange(total) + total - 1) // total).reshape(self.blocks, -1).sum(1)

    def _bind(self, simulation) -> dict:
        """The launches of each part of a step, by its name."""
        compiled, fields, threads = simulation.device.compile, simulation.step_arguments[0], self.counts.threads
        particles = simulation.particles_on_device, self._room, self.threads
        per_block = self.counts.block
        limit = _REGISTERS // per_block if per_block > 256 else None
        make_kernel = make_air_kernel if self._air else make_segment_kernel
        body = make_kernel(simulation.real, simulation.device.add)
        kernel = Kernel(body, block=per_block, registers=limit, strict=True)
        buffers = self.incoming, self.outgoing, self.counts, self.sums
        moving = *particles, *buffers, *simulation.step_arguments, *self._air
        total = (len(fields.currents),), self.sums, self.blocks, fields.currents
        stock = [
            compiled(_FEW)((2,), self.stock),
            compiled(Kernel(take_stock))((threads,), self.threads, self.counts, self.stock),
        ]
        return {
            "begin": [compiled(Kernel(find_ends))((threads,), *particles, self.counts, simulation.used), *stock],
            "launches": [compiled(kernel)((threads,), *moving)] * self._options.every + stock,
            # cleared in a launch of its own: loads that no store comes between can be under way at once
            "end": [
                compiled(Kernel(add_blocks))(*total),
                compiled(_MANY)((len(self.sums.currents),), self.sums.currents),
            ],
        }

    def __call__(self):
        """A step."""
        self.begin()
        while self.look():
            self.launch()
        self.end()

    def begin(self):
        """Point all threads to the start of their domains; new particles wait at the host."""
        self.launches, self.filled, self._seen = 0, 0, None
        self._sequences["begin"]()
        self.waiting, self.set_free = self._inject(), 0
        if self._clock is not self._simulation.clock:
            self._clock[:] = int(self._simulation.clock[0])

    def launch(self):
        """As many launches as there are between two looks."""
        self._sequences["launches"]()
        self.launches, self._seen = self.launches + self._options.every, None

    def _look_at_stock(self, which: int) -> bool:
        if self._seen is None:
            self._seen = self._simulation.device.to_host(self.stock)
        return bool(self._seen[which])

    @property
    def going(self) -> bool:
        """Whether a particle here is still in transit."""
        return self._look_at_stock(ON_THE_WAY) or len(self.waiting) > 0

    def look(self) -> bool:
        """Between launches: empty and fill the buffers; returns whether a particle is still in transit."""
        exchange = self._options.exchange
        if not exchange:
            # what collisions have set free, and nothing else
            self.departed()
        while exchange:
            arrived = exchange(self.departed(), not self.going)
            if arrived is None:
                return False
            self.wait_for_room(arrived)
            if self.going:
                break
        self.fill()
        return self.going

    def wait_for_room(self, records: np.ndarray):
        """Let particles wait for room in the incoming buffers, behind those that do."""
        self.waiting = joined(self.waiting.dtype, (self.waiting, records))

    def end(self):
        """Add up the currents of all blocks."""
        self._sequences["end"]()

    @property
    def last(self) -> StepLaunches:
        """What the last step took."""
        busy = int(self.threads.busy.sum())
        share = busy / max(self.launches * self.counts.threads, 1)
        return StepLaunches(self.launches, share, busy, self.filled)

    def departed(self) -> np.ndarray:
        """Particles that have left, out of the outgoing buffers, which are then empty.

        Electrons that collisions have set free go to the list of those that wait.
        """
        device = self._simulation.device
        if not self._look_at_stock(LEFT):
            return self.waiting[:0]
        filled = device.to_host(self.counts.outgoing)
        self.counts.outgoing[:] = 0
        self._seen[LEFT] = 0
        records = taken_records(device, self.outgoing, device.to_device(self._entries(filled)))
        new = records["cell"] <= DEFERRED
        if not new.any():
            return records
        records["cell"][new] = DEFERRED - records["cell"][new]
        self.wait_for_room(records[new])
        self.set_free += int(new.sum())
        return records[~new]

    def _entries(self, filled) -> np.ndarray:
        """Entries of the buffers, of which each has so many: the first of all blocks, the second of all ..."""
        within = np.arange(filled.max(initial=0))[:, None]
        entries = entry_of(within, np.arange(self.blocks), self.blocks)
        return entries[within < filled]

    def fill(self):
        """Fill the incoming buffers evenly, when they are empty and particles wait."""
        device = self._simulation.device
        if not len(self.waiting) or device.to_host(self.counts.incoming).any():
            return
        on_the_way = self._look_at_stock(ON_THE_WAY)
        read, write, end = self.threads[:3]
        taken = (end - read + write).reshape(self.blocks, -1).sum(1)
        # entries in each block's domains that no particle has or will need
        free = self._elements - device.to_host(taken)
        filled = shares(len(self.waiting), np.minimum(free, self.counts.room))
        if not filled.any():
            if not on_the_way:
                needed = int(self.threads.write.sum()) + len(self.waiting)
                raise CapacityError(
                    f"{needed} particles in a step of {self._simulation.system.name}, and room for {self._room}: take "
                    f"{self._simulation.subdomain.wanted_capacity(needed)}"
                )
            return
        count = int(filled.sum())
        put_records(self.waiting[:count], device, self.incoming, device.to_device(self._entries(filled)))
        self.counts.incoming[:] = device.to_device(filled.astype(np.int32))
        self.waiting, self.filled = self.waiting[count:], self.filled + 1
        self._seen[ON_THE_WAY] = 1


def _make_injection(simulation):
    """Records of the particles that a source adds in a step, computed where the fields are: inject()."""
    source, device = simulation.system.source, simulation.fields.device
    room = source.per_step if source else 0
    added, used = make_particles(device, simulation.real, room), device.zeros(1, np.int32)
    context, none = simulation.step_arguments[1], np.empty(0, record_type(simulation.real))
    charges = ions = context.charges
    if device is not simulation.device:
        ions = device.zeros(len(charges), np.int64)
        context = context._replace(neighbour_cell=simulation.subdomain.mesh.neighbour_cell, charges=ions)
    target = SourceTarget(device, added, used, simulation.fields.arrays, context)
    # without births, too: the random numbers of collisions are named by the step
    launches = simulation.bind_source(target).values() or [count_steps(device, simulation.clock)]
    launch = LaunchSequence(device, [device.compile(_FEW)((1,), used), *launches])

    def inject():
        launch()
        if not room:
            return none
        if ions is not charges:
            charges[:] += simulation.device.to_device(ions)
            ions[:] = 0
        return taken_records(device, added, slice(int(used[0])))

    return inject
