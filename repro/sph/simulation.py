"""A running simulation: a system, a device, a search for neighbours and a treatment of boundaries."""

import warnings
from functools import cached_property, partial
from typing import Annotated

import numpy as np

from repro.declared import Kind, OneOf, Whole, checked
from repro.errors import InputError, require
from repro.parallel import PRECISIONS, TimeLoop, require_memory
from repro.parallel.launch_sequence import in_turn
from repro.parallel.options import OnDevice, OnRanks, Precision
from repro.parallel.timeloop import GRAPH_STEPS
from repro.particles.position import Units
from repro.particles.random import MOST_PARTICLES

from .air import AirSampling, carried, most, sample
from .bindings import ALONE, FIRST, ONLY, SECOND, Bindings
from .exact import rest_condensation
from .fluid import time_steps
from .ghosts import BOUNDARIES, make_air, make_ghosts, make_no_ghosts, obstacles, place_air, wall_sites
from .neighbour_sums import LARGEST, continuity, momentum, summation
from .ranks import share_of
from .stability_checks import require_inside, require_limits
from .state import make_state
from .strategies import SEARCHES
from .strategies.neighbour_list import ENTRIES
from .strategies.search import ROWS
from .sum_kernels import FEW, listed, shared
from .system import SAFETY, System

#: How densities are found: by equation 3, by equation 4 before the forces, or by equation 4 together with them, in one
#: sum over the neighbours. Notebook `ghosts` shows with which stiffness a dam breaks by 3.
DENSITIES = ("summation", "continuity", "rate")


class Simulation(TimeLoop):
    """The fluid of `system` on a device, at first with the density of water at rest.

    `device` comes from `repro.parallel.select`; `strategy` is a key of strategies.STRATEGIES, or on one core of
    PAIRS_ONCE, `density` one of DENSITIES, `boundary` one of ghosts.BOUNDARIES, `precision` "single" or "double",
    `sampling` says how ghosts in the air are sown. With "ghosts" these keep the fluid in the tank, and push back what
    sinks into a wall; otherwise the walls hold it back. Ghosts in the air act with "summation"; then steps stop for the
    host to sow them. With fewer particles than `few` threads of a GPU share the sum of one, which changes no bit.
    Raises InputError for what cannot work and MemoryLimitError before allocating what does not fit. A particle through
    a wall or without a finite velocity stops the run, and so does a time step beyond what the fluid's speed,
    acceleration or compression allow.

    With `ranks` (`repro.parallel.ranks.world.world()`) each of several processes has a block of the tank's cells, cut
    so that all begin with about as much fluid; where it flows to later, there is more to do. All must do the same. The
    bits are those of one rank. Each rank needs room for the fluid that can flow into its block, and a table of all
    cells and ids. It takes the GPU that it sees first: CUDA_VISIBLE_DEVICES gives it one of its own.
    """

    @checked
    def __init__(
        self,
        system: Annotated[System, Kind(System, wanted="a System, as case.system() makes it")],
        device: OnDevice,
        *,
        strategy: Annotated[str, OneOf(SEARCHES)] = "sorted cells",
        density: Annotated[str, OneOf(DENSITIES)] = "continuity",
        boundary: Annotated[str, OneOf(BOUNDARIES)] = "ghosts",
        precision: Precision = "single",
        sampling: Annotated[AirSampling, Kind(AirSampling)] = AirSampling(),  # noqa: B008
        few: Annotated[int, Whole(0, MOST_PARTICLES)] = FEW,
        ranks: OnRanks = None,
    ):
        require(
            density == "summation" or system.fluid.xsph == 0,
            f"{system.name}: xsph = {system.fluid.xsph:g} acts with density = 'summation' only",
        )
        # beyond, a particle that a wall stops swings faster than what is foreseen can follow
        most_safe = SAFETY * min(time_steps(system.fluid, system.resolution, system.speed).values())
        require(
            density != "rate" or system.dt <= most_safe * (1 + 1e-9),
            f"{system.name}: time step {system.dt:g} s: density = 'rate' takes at most {most_safe:.3g} s",
        )
        self.device, self.system, self.real, self.precision = device, system, PRECISIONS[precision], precision
        self.strategy, self.density, self.boundary, self.sampling = strategy, density, boundary, sampling
        self.few, rate = few, density == "rate"
        #: where ghosts in the air are, in m, and whether they must be sown before the next step
        self.air_samples, self._air_due = np.zeros((0, 3)), density == "summation" and boundary == "ghosts"
        self.air_acts = self._air_due
        self._share = share_of(self, ranks)
        # at the speed of sound where nothing makes the fluid flow
        speed = system.speed or system.fluid.sound_speed
        if line := Units(self.real).lost_to_rounding(system.dt, speed, system.box, " s"):
            warnings.warn(f"{system.name}: {line}", stacklevel=3)
        require_memory(
            device, self.memory, f"{self._share.room} particles ({precision} precision)", "use fewer particles"
        )
        at_rest = rest_condensation(system.depths, system.fluid)
        self.state = make_state(device, self.real, system, at_rest, self._share, with_rate=rate)
        self._resumed, self._looked = None, 0
        super().__init__(device, [self._launch_step], start=self._find_forces, look=self._require_valid)
        self._bind = Bindings(device, self.real, system, strategy, few, self._share)
        self._lists = self._share.lists(device, self._bind.search, self.state, self.real)
        self.fluid = self.state.species(self._lists.starts, self._lists.members)
        #: every type of particles that fluid meets in a step, by name; see neighbour_sums.PARTICLE_TYPES
        self.neighbours = {"fluid": self.fluid, "walls": self.walls}
        if density == "summation":
            self.neighbours["air"] = self.air
        if len(system.obstacles):
            self.neighbours["obstacles"] = self._ghosts(obstacles(system))
        self.neighbours = {name: self._bind.with_cache(species) for name, species in self.neighbours.items()}
        self._excursion = device.zeros(system.count, self.real)
        least, free_to_go = 0 if boundary == "clamped" else None, boundary == "ghosts"
        foresee = self._bind.foresee(self.state, least) if rate else None
        self._drift, self._kick = self._bind.motion(self.state, self._excursion, free_to_go=free_to_go, foresee=foresee)

        # unlike with equation 3, ghosts do not depend on the density that is found
        self._besides = self.followers if density == "continuity" and self._share.alone else {}
        alone = {} if self._bind.shared and self._besides else self.followers
        #: the launches by name that give ghosts the fluid's velocity and pressure
        self._after = {name: self._bind.launch(body, n, *taken) for name, (body, n, taken) in alone.items()}
        self._begin = self._bind.of_fluid(foresee[0], self.state.count, *foresee[1]) if rate else in_turn
        solid = ["walls"] * free_to_go + ["obstacles"] * ("obstacles" in self.neighbours)
        self._share.connect(device, self.state, density, [self.neighbours[name] for name in solid])
        terms = self._terms(least)
        self._first_sums, self._sums = self._bound(terms, static=not rate), self._bound(terms)

    def _terms(self, least) -> dict:
        """The sums over neighbours of a step by name, and for each which it is and what it is summed into."""
        density, (s, a) = self.density, (self.state.s, self.state.a)
        if density == "rate":
            return {"forces": (momentum(self.real, "rate"), ONLY, a)}
        make, equation = (continuity, "work") if density == "continuity" else (summation, "force")
        return {"density": (make(self.real, least), FIRST, s), "forces": (momentum(self.real, equation), SECOND, a)}

    def _bound(self, terms: dict, *, static=False) -> dict:
        """Their launches by name, and before the last of them what gives ghosts the fluid's velocity and pressure."""
        besides = {"density": self._besides.values()}
        sums = {
            name: self._bind.sum(*each, self.neighbours, static=static, besides=besides.get(name, ()))
            for name, each in terms.items()
        }
        forces = {"forces": sums.pop("forces")}
        return self._share.arranged(sums, self._after, forces)

    def __repr__(self):
        return f"Simulation({self.system.name}, {self.system.count} particles, {self.strategy}, {self.device})"

    @property
    def memory(self) -> int:
        """Bytes on the device, about: fluid with a sorted copy and shared sums, ghosts, tables of cells."""
        system, device, search = self.system, self.device, SEARCHES[self.strategy]
        sides, each = np.array(system.tank) / system.resolution.spacing, np.dtype(self.real).itemsize
        sites = np.prod(sides + 2 * (system.layers + 1))
        ghosts = len(system.obstacles) + most(system, self.sampling) * self.air_acts
        ghosts += (sites - np.prod(sides)) * (self.boundary == "ghosts")
        room, part = self._share.room, self._share.part
        rows = search.shares and shared(device, room, self.few)
        words = ENTRIES if listed(device, search, room, self.few) else search.cached_words
        numbers = 36 if self.density == "rate" else 33
        fluid = numbers * each + 40 + 8 * ROWS * LARGEST * rows + 2 * 4 * words + 8 * LARGEST * bool(search.ahead)
        return int(room * fluid + part * ghosts * (8 * each + 24) + 16 * system.cells.count)

    def _ghosts(self, *sites):
        here = [some for some in map(self._share.sites, sites) if len(some.kind)]
        make = make_ghosts if here else make_no_ghosts
        return self._bind.search.static(self.device, make(self.device, self.real, self.system, *here))

    @cached_property
    def walls(self):
        """The ghosts in walls; none without ghosts."""
        return self._ghosts(*([wall_sites(self.system)] if self.boundary == "ghosts" else []))

    @cached_property
    def air(self):
        """The ghosts in the air. With equation 4, which they add nothing to, they are made when asked for."""
        if self.boundary != "ghosts":
            return self._ghosts()
        room = most(self.system, self.sampling)
        return make_air(self.device, self.real, self.system, room, self._bind.search)

    @cached_property
    def followers(self):
        """What gives ghosts the fluid's velocity and pressure, by name: body, items and arguments."""
        if self.system.walls.still:
            return {}
        used = {name: ghosts for name, ghosts in self.neighbours.items() if name != "fluid" and ghosts.count}
        return {f"ghosts in {name}": self._bind.extrapolation(self.fluid, ghosts) for name, ghosts in used.items()}

    def _sow_air(self):
        """Sow the ghosts in the air, on the host; where they are carried, they are those of before where they fit."""
        found, before, sampling = self.particles(), None, self.sampling
        position = found["position"]
        if sampling.carried:
            seconds = sampling.every * self.system.dt
            before = carried(self.air_samples, position, found["velocity"].astype(float), seconds)
        self.air_samples, self._air_due = sample(position, self.system, sampling, self.steps, before), False
        place_air(self.device, self.real, self.air, self.system, self.air_samples, self._bind.search)

    def advance(self, count: int, *, every: int = GRAPH_STEPS, observers=()) -> None:
        """Launch `count` steps, as `TimeLoop.advance`; where ghosts in the air act, steps stop for them to be sown."""
        if not self.air_acts:
            return super().advance(count, every=every, observers=observers)
        require(not observers, f"{self.system.name}: no observers where ghosts in the air act")
        self.start()
        while count > 0:
            if self._air_due:
                self._sow_air()
            portion = min(count, self.sampling.every - self.steps % self.sampling.every)
            super().advance(portion, every=portion)
            self._air_due = self.steps % self.sampling.every == 0
            count -= portion
        return None

    @property
    def parts(self) -> dict:
        """What a step launches, by name, in its order."""
        return {"drift": self._drift} | self._lists.parts | self._sums | {"kick": self._kick}

    @cached_property
    def _stages(self) -> list:
        """What a step calls: its parts, or what is recorded of them between messages."""
        return self._share.stages(self.device, self.parts.values())

    def _launch_step(self):
        in_turn(*self._stages)

    def _graph(self, every: int, observers: tuple):
        if self._share.alone:
            return super()._graph(every, observers)
        # messages are the host's, and no part of a graph
        return partial(self._launch, self.steps, every, observers)

    def _find_forces(self):
        if self._air_due:
            self._sow_air()
        in_turn(self._begin, *self._lists.parts.values(), *self._first_sums.values())
        if self.density == "rate":
            # as if the step before had been like the first one
            self.state.s[self.state.count :] = self.state.a[3 * self.state.count :]
        self._require_valid()

    def _require_valid(self):
        """Raise DivergenceError for what stops a run, see `stability_checks`."""
        self._share.agree(self._require_valid_here)
        self._looked = self.steps

    def _require_valid_here(self):
        found, when = self.particles(), f"between steps {self._looked} and {self.steps}"
        velocity = np.zeros((self.system.count, 3), self.real)
        velocity[found.get("ids", slice(None))] = found["velocity"]
        require_inside(self.device.to_host(self._excursion), velocity, self.system, when)
        require_limits(found, self.system, f"at step {self.steps}")

    def resume(self, steps: int) -> None:
        """Take the arrays as they are for the state after `steps` steps (a checkpoint's)."""
        super().resume(steps)
        self._resumed, self._looked, self._air_due = steps, steps, self.air_acts

    def excursions(self) -> np.ndarray:
        """How far in m each particle has ever been outside the tank, by id, since the start or a checkpoint.

        Infinite for one that had no finite velocity. Of all ranks, which must all call it.
        """
        return self._share.most(self.device.to_host(self._excursion))

    def particles(self) -> dict[str, np.ndarray]:
        """Positions in m from the tank's corner, velocities in m/s, accelerations and condensations, by id.

        Where densities are clamped, so are the condensations. Of several ranks the particles of this one, and their
        `ids`; see `gathered`.
        """
        state, room = self.state, self.state.count
        r, v, a, s, ids = self.by_id(state.r, state.v, state.a[: 3 * room], state.s[:room], state.ids)
        found = {
            "position": Units(self.real).coordinates(r, self.system.box) - self.system.margin,
            "velocity": v,
            "acceleration": a,
            "condensation": np.maximum(s, 0) if self.boundary == "clamped" else s,
        }
        return found if self._share.alone else found | {"ids": ids}

    def by_id(self, *arrays) -> list[np.ndarray]:
        """Arrays of the state on the host, (n) or as rows (n, components), of the own particles by id."""
        order = self._share.order(self.device, self.state.ids)
        rows = [self.device.to_host(array).reshape(-1, self.state.count).T[order] for array in arrays]
        return [np.ascontiguousarray(each[:, 0] if each.shape[1] == 1 else each) for each in rows]

    def place(self, rows: dict[str, np.ndarray]) -> None:
        """Take numbers of all particles, by id as `by_id` has them, for the state: `r` and others by name."""
        self._share.enter(self.device, rows["r"])
        for name, values in (rows | {"ids": np.arange(self.system.count, dtype=np.int32)}).items():
            getattr(self.state, name)[:] = self._share.on_device(self.device, values)

    def gathered(self, values: np.ndarray) -> np.ndarray | None:
        """Values (n, ...) of the particles of all ranks, as `particles` has them, brought together by id on rank 0; all
        must call it. None on the others; on one rank the values. DivergenceError if a particle was lost.
        """
        return values if self._share.alone else self._share.gathered(*self.by_id(self.state.ids), values)

    def require_alone(self, what: str) -> None:
        """Raise InputError on several ranks, for what is found on one only."""
        require(self._share.alone, f"{what} is found on one rank: restore a checkpoint of several there")

    def summed_condensation(self) -> np.ndarray:
        """What equation 3 gives for each particle with the ghosts that there are, by id; negative is a deficit.

        InputError between a checkpoint and the next step, when there are no lists of neighbours.
        """
        self.require_alone("the density by equation 3")
        if self.steps == self._resumed:
            raise InputError(f"a checkpoint of step {self.steps} has no lists of neighbours: take a step first")
        self.start()
        summed, measure = self._measure
        if self.air.count and (self._air_due or not self.air_acts):
            self._sow_air()
        measure()
        return self.device.to_host(summed)[np.argsort(self.device.to_host(self.state.ids))]

    @cached_property
    def _measure(self):
        """What equation 3 gives with all ghosts, and its launch."""
        # and the pressure, which is not asked for
        summed, spare = (self.device.zeros(self.system.count, self.real) for _ in range(2))
        neighbours = self.neighbours | {"fluid": self.fluid._replace(term=spare), "air": self.air}
        return summed, self._bind.sum(summation(self.real, None), ALONE, summed, neighbours)
