"""A running simulation: a system, a device and a strategy that moves the particles."""

from functools import cached_property, partial

import numpy as np

from repro.declared import Device, Kind, OneOf, Whole
from repro.errors import InputError
from repro.parallel import PRECISIONS, Kernel, TimeLoop, require_memory, select, zero
from repro.parallel.launch_sequence import LaunchSequence, in_turn
from repro.parallel.ranks.world import Alone, Ranks

from .advance import MeshContext
from .air.tallies import in_units
from .cell_sort import CellSort
from .deposition import EDGES, charges_at, units_of_weight
from .gather import electric_at
from .maxwell.fields import Bus, Fields
from .packing import entries_here, put_particles, records_here
from .particle_source import SourceNumbers, SourceTarget, count_steps, make_source_kernel
from .stability_checks import require_valid, steps_between_looks
from .state import bytes_each, make_particles
from .strategies import STRATEGIES, Strategy, fastest
from .subdomain import Subdomain, WholeDomain
from .system import System


class Simulation(TimeLoop):
    """The electrons of `system` on a device, which comes from `repro.parallel.select`.

    `strategy` is a Strategy, a key of strategies.STRATEGIES or "fastest", `precision` "single" or "double"; particles
    are put in the order of their cells each `sort_every` steps, never with 0. A trajectory has the same bits with each
    strategy and on each device. With `ranks` (`repro.parallel.ranks.world.world()`) each of several processes has a
    part of the box, with the same bits again; all must do the same. Raises InputError for what cannot work and
    MemoryLimitError before allocating what does not fit.
    """

    def __init__(self, system: System, device, *, strategy="fastest", precision="single", sort_every=0, ranks=None):
        Kind(System).check("system", system)
        Device().check("device", device)
        Kind(Alone, Ranks, type(None)).check("ranks", ranks)
        strategy = _strategy(strategy, device, system)
        OneOf(PRECISIONS).check("precision", precision)
        Whole(0, 10_000).check("sort_every", sort_every)
        self.system, self.strategy, self.precision, self.sort_every = system, strategy.name, precision, sort_every
        self.real, self.device, self._by_host = PRECISIONS[precision], device, strategy.by_host
        self.ranks = ranks if ranks is not None and ranks.count > 1 else None
        if self.ranks and not strategy.crossing:
            raise InputError(f"strategy '{strategy.name}' is for one rank: take '{fastest(device, system)}'")
        # where the fields are: with the particles, or on the CPU
        home = select("threads") if strategy.fields_on_host and device.name == "cuda" else device
        self.subdomain = Subdomain(system, ranks, home) if self.ranks else WholeDomain(system)
        self._by_host |= self.ranks is not None
        self._memory_of_strategy = strategy.memory(system, self.real, device)
        require_memory(
            device, self.memory, f"{self.subdomain.room} particles ({precision} precision)", "lower capacity"
        )
        mesh, self.unit = self.subdomain.mesh, units_of_weight(system.total_weight)
        self.particles_on_device = make_particles(device, self.real, self.subdomain.room)
        self.fields = Fields(home, self.real, mesh, system.dt, self.unit, self.subdomain.exchange)
        self._bus = None if self.fields.device is device else Bus(device, self.fields)
        #: entries of the particles' arrays in use, and steps taken, as the device counts them
        self.used = device.zeros(1, np.int32)
        self.clock = (self.fields.device if strategy.by_host else device).zeros(1, np.int64)
        self.charges = device.zeros(mesh.layout.nodes, np.int64)
        neighbours, courant = device.to_device(mesh.neighbour_cell), self.fields.courant
        context = MeshContext(neighbours, self.charges, self.unit, courant, mesh.layout)
        arrays = self._bus.arrays if self._bus else self.fields.arrays
        self.step_arguments = (arrays, context)
        self.fields.set(*(np.reshape(field, (3, 1, 1, 1)) for field in (system.electric, system.magnetic)))
        # with fields of their own these clear the sums
        clear = device.compile(Kernel(zero))((len(arrays.currents),), arrays.currents)
        self._clear = {"clear the currents": clear}
        launches = [self._launch_step]
        self._moves = strategy.build(self)
        #: sums of what electrons in air have done, see `air.tallies`; None in vacuum
        self._tallies = getattr(self._moves["particles"], "tallies", None)
        if self.ranks:
            # the exchange of particles between ranks is a part of the step
            self.crossing = strategy.crossing(self, self._moves["particles"])
            self._moves = self._moves | {"particles": self.crossing}
        self._injection = {} if strategy.by_host else self.bind_source(self.source_target)
        if sort_every:
            self._cell_sort = CellSort(device, self.real, self.particles_on_device, self.used, mesh.layout.nodes)
            sorted_step = partial(in_turn, self._cell_sort, self._launch_step)
            launches = [sorted_step] + [self._launch_step] * (sort_every - 1)
        #: what has been warned of, see `stability_checks`
        self.warned = set()
        super().__init__(device, launches, start=self._place, look=self._require_valid)
        self.check_steps = steps_between_looks(system, self.check_steps)

    def __repr__(self):
        return f"Simulation({self.system.name}, {self.system.room} particles, {self.strategy}, {self.device})"

    @property
    def memory(self) -> int:
        """Bytes on the device, about."""
        each = bytes_each(self.real) * (2 if self.sort_every else 1)
        node = 6 * np.dtype(self.real).itemsize + 8 * EDGES + 8 + 4 + 8
        fields = self.subdomain.mesh.layout.nodes * node
        return int(self.subdomain.room * each + fields) + self._memory_of_strategy

    def bind(self, kernel: Kernel, *more, items: int | None = None):
        """The launch of a kernel that moves particles: an item an entry of their arrays, unless a number is given."""
        particles, count = self.particles_on_device, len(self.particles_on_device.cell)
        return self.device.compile(kernel)((items or count,), particles, count, *self.step_arguments, *more)

    @property
    def source_target(self) -> SourceTarget:
        """Where a step's source puts its particles, if the strategy does not."""
        return SourceTarget(self.device, self.particles_on_device, self.used, *self.step_arguments)

    def _graph(self, every: int, observers: tuple):
        if self._by_host:
            return lambda: self._launch(self.steps, every, observers)
        return super()._graph(every, observers)

    @property
    def parts(self) -> dict:
        """What a step launches, by name, in its order."""
        if not self.system.self_field:
            return self._clear | self._injection | self._moves
        to_device, to_host = (self._bus.before, self._bus.after) if self._bus else ({}, {})
        return self.fields.before | to_device | self._injection | self._moves | to_host | self.fields.after

    def _launch_step(self):
        if self.ranks:
            self.crossing.count()
        in_turn(*self._stages)

    @cached_property
    def _stages(self) -> list:
        """What a step launches: where the host drives the particles alone, what is before and after them in one."""
        names, launches = list(self.parts), list(self.parts.values())
        if not self._by_host or self.ranks or self._bus:
            return launches
        middle = names.index("particles")
        before, after = (LaunchSequence(self.device, part) for part in (launches[:middle], launches[middle + 1 :]))
        return [before, launches[middle], after]

    def bind_source(self, source_target: SourceTarget, *, at_start: bool = False) -> dict:
        """The launches by name with which the source adds its particles in a step, or those at the start."""
        source, system = self.system.source, self.system
        count = 0 if source is None else source.start if at_start else source.per_step
        if not count:
            return {}
        clock = source_target.device.zeros(1, np.int64) if at_start else self.clock
        first = tuple(
            int(cell) - low for cell, (low, _) in zip(self.subdomain.first, system.mesh.absorbing, strict=True)
        )
        numbers = SourceNumbers(
            *(source_target.used, clock, source.start, source.per_step, len(system.electrons.weight)),
            *(source.seed, source.momentum, source.weight, first, system.mesh.inner_shape),
        )
        kernel = Kernel(make_source_kernel(self.real, source_target.device.add, at_start), strict=True)
        _, particles, _, *fields = source_target
        launch = source_target.device.compile(kernel)((count,), particles, len(particles.cell), *fields, numbers)
        return {"births": launch} if at_start else {"clock": count_steps(source_target.device, clock), "births": launch}

    def resume(self, steps: int) -> None:
        """Take the arrays as they are for the state after `steps` steps (a checkpoint's)."""
        super().resume(steps)
        self.clock[:], self.fields.begun = steps, True
        if self._bus:
            self._bus.bring_fields()

    def _place(self):
        """Put all particles where the system has them, and B half a step back."""
        self._place_electrons()
        if self._bus:
            self._bus.bring_fields()
        in_turn(*self.bind_source(self.source_target, at_start=True).values())
        self.fields.begin(self.system.self_field)
        self._require_valid()

    def _place_electrons(self):
        electrons, mesh, device = self.system.electrons, self.subdomain.mesh, self.device
        scaled = electrons.position / mesh.spacing
        cells = self.system.mesh.inner_cells(scaled.astype(int))
        ids, nodes = entries_here(self, cells)
        if not len(ids):
            return
        weight = electrons.weight[ids]
        # rounding may put one beside the face that it is on
        place = np.clip(scaled - cells, 0, 1)[ids].T.astype(self.real)
        field = electric_at(self._electric(), nodes, tuple(place), mesh.layout)
        # half of the first kick belongs to the time before
        momentum = electrons.momentum[ids].T.astype(self.real) + self.real(0.5) * np.asarray(field, self.real)
        put_particles(self, cell=nodes, place=place, u=momentum, weight=weight, ids=ids)
        # of the ions that they leave where they begin
        ions = charges_at(self.real, nodes, place, weight.astype(self.real) * self.real(self.unit), mesh.layout)
        self.charges[:] += device.to_device(ions)

    def _require_valid(self):
        """Raise where a run must end, see `stability_checks`."""
        require_valid(self)

    def _electric(self) -> np.ndarray:
        return self.fields.device.to_host(self.fields.arrays.electric)

    @property
    def time(self) -> float:
        """Time in s."""
        return self.steps * self.system.dt

    @property
    def count(self) -> int:
        """Particles in the box."""
        return int((self.particles_on_device.cell >= 0).sum())

    def tallies(self) -> dict[str, float | int]:
        """What the electrons in air have done so far (of several ranks: on this one), by name; empty in vacuum.

        Energies in J of all electrons: "lost" to the air in small portions, "radiated" by photons above the cut, and
        "left over" by electrons that stopped. Numbers of particles: "stops", and events of each process by its name.
        """
        return {} if self._tallies is None else in_units(self.device.to_host(self._tallies), self.unit)

    def particles(self) -> dict[str, np.ndarray]:
        """All particles in the box (of several ranks in this one's subdomain) by id.

        Position (m) and momentum (over m c, at the time of the position) of shape (count, 3), weight, ids.
        """
        self.start()
        mesh, records = self.subdomain.mesh, records_here(self)
        cell, place = records["cell"], records["place"]
        field = np.asarray(electric_at(self._electric(), cell, tuple(place.T), mesh.layout))
        return {
            "position": (mesh.cells(cell) + np.array(self.subdomain.first) + place.astype(float)) * mesh.spacing,
            "momentum": (records["u"] - self.real(0.5) * field.T).astype(float),
            "weight": records["weight"].astype(float),
            "ids": records["ids"].copy(),
        }


def _strategy(choice, device, system) -> Strategy:
    """A strategy or the one that a name stands for, if it is for the device, and for the system's air or vacuum."""
    choice = fastest(device, system) if choice == "fastest" else choice
    if not isinstance(choice, Strategy):
        fits = [name for name, way in STRATEGIES.items() if device.name in way.on and system.medium in way.media]
        OneOf(fits).check("strategy", choice)
        return STRATEGIES[choice]
    if system.medium not in choice.media or device.name not in choice.on:
        raise InputError(
            f"strategy '{choice.name}' is for {' and '.join(choice.media)} on {' and '.join(choice.on)}, and this is "
            f"{system.medium} on {device.name}: take '{fastest(device, system)}'"
        )
    return choice
