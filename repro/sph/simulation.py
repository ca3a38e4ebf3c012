"""A running simulation: a system, a device, a search for neighbours and a treatment of boundaries."""

from functools import cached_property
from typing import Annotated

import numpy as np

from repro.declared import Kind, OneOf, checked
from repro.errors import InputError
from repro.parallel import PRECISIONS, TimeLoop, require_memory
from repro.parallel.launch_sequence import in_turn
from repro.parallel.options import OnDevice, Precision
from repro.particles.position import Units, vectors_by_id

from .bindings import Bindings
from .exact import rest_condensation
from .ghosts import BOUNDARIES, lattice, make_ghosts, make_no_ghosts, obstacles
from .neighbour_sums import LARGEST, continuity, momentum, summation
from .stability_checks import require_inside, require_limits
from .state import make_state
from .strategies import SEARCHES
from .strategies.search import ROWS
from .sum_kernels import FEW
from .system import System

#: How densities are found: equation 3 or equation 4. With equation 3 a ghost in the air that comes or goes changes the
#: density beside it by percents, which the paper's stiffness answers with hundreds of kilopascals: a dam does not break
#: as water does. Sites in the air that fill up what equation 3 leaves there, without a switch, are no way out: a dam
#: explodes, because what air pushes is not what it takes to change the weights. Water at rest is stable with both.
DENSITIES = ("summation", "continuity")


class Simulation(TimeLoop):
    """The fluid of `system` on a device, at first with the density of water at rest.

    `device` comes from `repro.parallel.select`; `strategy` is a key of strategies.STRATEGIES, or on one core of
    PAIRS_ONCE, `density` one of DENSITIES, `boundary` one of ghosts.BOUNDARIES, `precision` "single" or "double". With
    "ghosts" these keep the fluid in the tank, and push back what sinks into a wall; otherwise the walls hold it back.
    Raises InputError for what cannot work and MemoryLimitError before allocating what does not fit. A particle through
    a wall or without a finite velocity stops the run, and so does a time step beyond what the fluid's speed,
    acceleration or compression allow.
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
    ):
        self.system, self.real, self.precision = system, PRECISIONS[precision], precision
        self.strategy, self.density, self.boundary = strategy, density, boundary
        require_memory(device, self.memory, f"{system.count} particles ({precision} precision)", "use fewer particles")
        self.state = make_state(device, self.real, system, rest_condensation(system.depths, system.fluid))
        self._resumed, self._looked = None, 0
        super().__init__(device, [self._launch_step], start=self._find_forces, look=self._require_valid)
        self._bind = Bindings(device, self.real, system, strategy)
        self._lists = self._bind.search.lists(device, system.cells, self.state, self.real)
        self.fluid = self.state.species(self._lists.starts, self._lists.members)
        #: every type of particles that fluid meets in a step, by name; see neighbour_sums.PARTICLE_TYPES
        self.neighbours = {"fluid": self.fluid, "walls": self.walls}
        if density == "summation":
            self.neighbours["air"] = self.air
        if len(system.obstacles):
            self.neighbours["obstacles"] = self._ghosts([obstacles(system)])
        self.neighbours = {name: self._bind.with_cache(species) for name, species in self.neighbours.items()}
        self._excursion = device.zeros(system.count, self.real)
        self._drift, self._kick = self._bind.motion(self.state, self._excursion, free_to_go=boundary == "ghosts")

        def sums(terms, walk, result, **more):
            """The launches of a sum at the start and in a step."""
            return [self._bind.sum(terms, walk, result, self.neighbours, static=now, **more) for now in (True, False)]

        # unlike with equation 3, ghosts do not hang on the density that is found
        besides = self.followers if density == "continuity" else {}
        make, equation = (continuity, "work") if density == "continuity" else (summation, "force")
        densities = make(self.real, 0 if boundary == "clamped" else None)
        self._first_density, self._density = sums(densities, self._bind.first, self.state.s, besides=besides.values())
        self._first_forces, self._forces = sums(momentum(self.real, equation), self._bind.second, self.state.a)
        #: the launches by name that sample the air, and those that give ghosts the fluid's velocity and pressure
        self.samplings = {"air": self._sampling} if "ghosts in air" in self.followers else {}
        alone = {} if self._bind.shared and besides else self.followers
        self._after = {name: self._bind.launch(body, n, *taken) for name, (body, n, taken) in alone.items()}

    def __repr__(self):
        return f"Simulation({self.system.name}, {self.system.count} particles, {self.strategy}, {self.device})"

    @property
    def memory(self) -> int:
        """Bytes on the device, about: fluid with a sorted copy and shared sums, ghosts, tables of cells."""
        inside = np.prod([side / self.system.resolution.spacing for side in self.system.tank])
        walls = 2 * (self.system.layers + 1)
        sites = np.prod([side / self.system.resolution.spacing + walls for side in self.system.tank])
        each = np.dtype(self.real).itemsize
        ghosts = (sites if self.density == "summation" else sites - inside) * (self.boundary == "ghosts")
        ghosts += len(self.system.obstacles)
        fluid = 33 * each + 40 + 8 * ROWS * LARGEST * (self.system.count < FEW)
        search = SEARCHES[self.strategy]
        fluid += 2 * 4 * search.cached_words + 8 * LARGEST * bool(search.ahead)
        return int(self.system.count * fluid + ghosts * (8 * each + 24) + 16 * self.system.cells.count)

    def _ghosts(self, sites):
        make = make_ghosts if sites else make_no_ghosts
        return self._bind.search.static(self.device, make(self.device, self.real, self.system, *sites))

    @cached_property
    def walls(self):
        """The ghosts in walls; none without ghosts."""
        return self._ghosts(lattice(self.system)[:1] if self.boundary == "ghosts" else ())

    @cached_property
    def air(self):
        """The sites of ghosts in the air. With equation 4, which they add nothing to, they are made when asked for."""
        return self._ghosts(lattice(self.system)[1:] if self.boundary == "ghosts" else ())

    @cached_property
    def followers(self):
        """What gives ghosts the fluid's velocity and pressure, by name: body, items and arguments."""
        if self.system.walls.still:
            return {}
        used = {name: ghosts for name, ghosts in self.neighbours.items() if name != "fluid" and ghosts.count}
        return {f"ghosts in {name}": self._bind.extrapolation(self.fluid, ghosts) for name, ghosts in used.items()}

    @cached_property
    def _sampling(self):
        return self._bind.sampling(self.fluid, self.air)

    @property
    def parts(self) -> dict:
        """What a step launches, by name, in its order."""
        return {"drift": self._drift} | self._force_parts(self._density, self._forces) | {"kick": self._kick}

    def _force_parts(self, density, forces) -> dict:
        return self._lists.parts | self.samplings | {"density": density} | self._after | {"forces": forces}

    def _launch_step(self):
        in_turn(*self.parts.values())

    def _find_forces(self):
        in_turn(*self._force_parts(self._first_density, self._first_forces).values())
        self._require_valid()

    def _require_valid(self):
        """Raise DivergenceError for what stops a run, see `stability_checks`."""
        found = self.particles()
        when = f"between steps {self._looked} and {self.steps}"
        require_inside(self.excursions(), found["velocity"], self.system, when)
        require_limits(found, self.system, f"at step {self.steps}")
        self._looked = self.steps

    def resume(self, steps: int) -> None:
        """Take the arrays as they are for the state after `steps` steps (a checkpoint's)."""
        super().resume(steps)
        self._resumed = self._looked = steps

    def excursions(self) -> np.ndarray:
        """How far in m each particle has ever been outside the tank, by id, since the start or a checkpoint.

        Infinite for one that had no finite velocity.
        """
        return self.device.to_host(self._excursion)

    def particles(self) -> dict[str, np.ndarray]:
        """Positions in m from the tank's corner, velocities in m/s, accelerations and condensations, by id.

        Where densities are clamped, so are the condensations.
        """
        state, device = self.state, self.device
        r, v, a = vectors_by_id(device, state.ids, state.r, state.v, state.a)
        condensation = device.to_host(state.s)[np.argsort(device.to_host(state.ids))]
        return {
            "position": Units(self.real).coordinates(r, self.system.box) - self.system.margin,
            "velocity": v,
            "acceleration": a,
            "condensation": np.maximum(condensation, 0) if self.boundary == "clamped" else condensation,
        }

    def summed_condensation(self) -> np.ndarray:
        """What equation 3 gives for each particle with the ghosts that there are, by id; negative is a deficit.

        InputError between a checkpoint and the next step, when there are no lists of neighbours.
        """
        if self.steps == self._resumed:
            raise InputError(f"a checkpoint of step {self.steps} has no lists of neighbours: take a step first")
        self.start()
        summed, measure = self._measure
        if self.air.count:
            self._sampling()
        measure()
        return self.device.to_host(summed)[np.argsort(self.device.to_host(self.state.ids))]

    @cached_property
    def _measure(self):
        """What equation 3 gives with all ghosts, and its launch."""
        # and the pressure, which is not asked for
        summed, spare = (self.device.zeros(self.system.count, self.real) for _ in range(2))
        neighbours = self.neighbours | {"fluid": self.fluid._replace(term=spare), "air": self.air}
        return summed, self._bind.sum(summation(self.real, None), self._bind.walk, summed, neighbours)
