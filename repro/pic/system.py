"""What is simulated: a box, its fields, the electrons in it and those that a source adds, checked. SI units."""

import warnings
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Annotated

import numpy as np

from repro.declared import Flag, Kind, Number, Numbers, OrNone, Text, Whole, checked
from repro.errors import InputError
from repro.particles.position import lost_to_rounding

from .air.collision_tables import Collisions
from .constants import CHARGE, LIGHT, MASS, REST_ENERGY, SMALLEST
from .deposition import units_of_weight
from .exact import momentum_of, plasma_frequency
from .maxwell.fields import courant_numbers
from .mesh import Mesh
from .motion.push import LARGEST_TURN
from .stability import highest_density, largest_eigenvalue, slowness

#: most momentum over m c, whose square single precision holds with room, and fewest electrons that a particle stands
#: for, for which the units of the sums are numbers of single precision
FASTEST_ELECTRON, _LIGHTEST = 1e15, 1e-15

#: plasma frequency times time step above which a leapfrog oscillates without a bound
_FASTEST = 2.0

#: cells that light goes in a step below which one is warned
_SLOWEST = 1e-5

#: most particles, which have numbers of 31 bits, and steps for whose source there is room unless a capacity is given
MOST_PARTICLES, _ROOM_STEPS = 2**31 - 1, 1000

#: the vectors of no particle
_NO = np.zeros((0, 3))

#: units of the sums in a particle's weight below which one is warned: each of its currents loses up to a unit
_LEAST_UNITS = 1000.0

#: spacings in a Debye length or a gyration radius below which one is warned
_RESOLVED = 0.3


@dataclass(frozen=True)
class Electrons:
    """Electrons at `position` in m with `momentum` over m c, both (count, 3), each for `weight` (count) of them."""

    position: np.ndarray = field(repr=False)
    momentum: np.ndarray = field(repr=False)
    weight: np.ndarray = field(repr=False)

    def __post_init__(self):
        for what, rule in (
            ("position", Numbers(None, 3, unit="m")),
            ("momentum", Numbers(None, 3, unit="m c")),
            ("weight", Numbers(None, unit="electrons")),
        ):
            object.__setattr__(self, what, rule.array(f"electrons: {what}", getattr(self, what)))
        counts = len(self.position), len(self.momentum), len(self.weight)
        if len(set(counts)) > 1:
            raise InputError("electrons: {} positions, {} momenta and {} weights: must be as many".format(*counts))
        if (self.weight < _LIGHTEST).any():
            raise InputError(
                f"electrons: a weight of {self.weight.min():g}: every weight must be above 0, at least {_LIGHTEST:g}"
            )
        if (fastest := np.abs(self.momentum).max(initial=0.0)) > FASTEST_ELECTRON:
            raise InputError(f"electrons: a momentum of {fastest:g} m c: at most {FASTEST_ELECTRON:g} m c")


@dataclass(frozen=True)
@checked
class Source:
    """A uniform source of particles of one energy in all directions, each leaving an ion where it began.

    It fills the whole box but for absorbing layers. `start` are there at the beginning, `per_step` come in each step,
    at times that are spread over it.
    """

    #: kinetic energy in eV
    energy: Annotated[float, Number(SMALLEST, FASTEST_ELECTRON * REST_ENERGY, "eV")]
    #: electrons that a particle stands for
    weight: Annotated[float, Number(_LIGHTEST)]
    start: Annotated[int, Whole()] = 0
    per_step: Annotated[int, Whole()] = 0
    seed: Annotated[int, Whole(0, 2**32 - 1)] = 1

    @property
    def momentum(self) -> float:
        """Momentum of a new electron over m c."""
        return float(momentum_of(self.energy))


@dataclass(frozen=True)
@checked
class System:
    """Electrons on `mesh` in steps of dt seconds, in a uniform field `magnetic` (T) and `electric` (V/m) at the start.

    With `self_field` Maxwell's equations follow, without electrons, too; otherwise the fields stay as they are.
    `capacity` is how many particles there may be at a time: by default those at the start, and those that a source adds
    in 1000 steps; in air twice as many, for electrons that ionisation sets free. Raises InputError for what cannot be
    simulated, and warns of what the mesh does not resolve.
    """

    mesh: Annotated[Mesh, Kind(Mesh)]
    dt: Annotated[float, Number(SMALLEST, unit="s")]
    electrons: Annotated[Electrons, Kind(Electrons)] = field(default_factory=lambda: Electrons(_NO, _NO, _NO[:, 0]))
    source: Annotated[Source | None, OrNone(Kind(Source))] = None
    magnetic: Annotated[tuple[float, float, float], Numbers(3, unit="T")] = (0.0, 0.0, 0.0)
    electric: Annotated[tuple[float, float, float], Numbers(3, unit="V/m")] = (0.0, 0.0, 0.0)
    self_field: Annotated[bool, Flag()] = True
    #: the air that electrons collide with; None is vacuum
    air: Annotated[Collisions | None, OrNone(Kind(Collisions))] = None
    #: names the random numbers of collisions
    seed: Annotated[int, Whole()] = 1
    capacity: Annotated[int | None, OrNone(Whole(1, MOST_PARTICLES))] = None
    name: Annotated[str, Text()] = "electrons"

    def __post_init__(self):
        if self.room < self.count:
            raise InputError(f"{self.name}: capacity = {self.room} for {self.count} particles at the start")
        self.mesh.require_inside(self.name, self.electrons.position)
        self.mesh.require_before_layers(self.name, self.electrons.position)
        self._require_steps()
        self._require_known_energies()
        self._warn_of_the_unresolved()
        self._warn_of_the_light()

    @property
    def medium(self) -> str:
        """What the electrons fly through: "air" or "vacuum"."""
        return "vacuum" if self.air is None else "air"

    @property
    def count(self) -> int:
        """Particles at the start."""
        return len(self.electrons.position) + (0 if self.source is None else self.source.start)

    @property
    def room(self) -> int:
        """Most particles at a time."""
        if self.capacity is not None:
            return self.capacity
        injected = 0 if self.source is None else _ROOM_STEPS * self.source.per_step
        set_free = 0 if self.air is None else self.count + injected
        return min(max(self.count + injected + set_free, 1), MOST_PARTICLES)

    def wanted_capacity(self, particles: int) -> str:
        """What to take where so many particles found no room, in words."""
        added = 0 if self.source is None else self.source.per_step
        return f"a capacity of {2 * particles}{f' (the source adds {added} a step)' if added else ''}"

    @property
    def total_weight(self) -> float:
        """The largest number of electrons that can be in the box at a time."""
        return self.heaviest * self.room

    @property
    def heaviest(self) -> float:
        """The largest weight of a particle; 1 where there is none."""
        return float(self.electrons.weight.max(initial=0.0 if self.source is None else self.source.weight)) or 1.0

    @property
    def density(self) -> float:
        """Mean number of electrons in m^3 at the start."""
        added = 0.0 if self.source is None else self.source.weight * self.source.start
        return float(self.electrons.weight.sum() + added) / self.volume

    @property
    def volume(self) -> float:
        """Where there can be electrons, in m^3: the box without absorbing layers."""
        return float(np.prod(np.array(self.mesh.inner_shape) * self.mesh.spacing))

    @property
    def _inert_density(self) -> float:
        """The density with each electron counted as the share of one at rest that it is in omega_p^2."""
        total = float(self.electrons.weight @ slowness(self.electrons.momentum))
        if self.source is not None:
            total += self.source.weight * self.source.start / sqrt(1 + self.source.momentum**2)
        return total / self.volume

    @property
    def plasma_frequency(self) -> float:
        """omega_p in 1/s at the mean density of the start, without a correction for fast electrons."""
        return plasma_frequency(self.density)

    def _require_steps(self):
        courant = sqrt(sum(number**2 for number in courant_numbers(self.mesh, self.dt)))
        if courant > 1:
            raise InputError(
                f"{self.name}: dt = {self.dt:g} s is beyond the Courant limit of this mesh: at most "
                f"{below(self.dt / courant)} s"
            )
        turn = CHARGE * float(np.linalg.norm(self.magnetic)) * self.dt / MASS
        if turn > LARGEST_TURN:
            raise InputError(
                f"{self.name}: in {np.linalg.norm(self.magnetic):g} T a slow electron turns by {turn:.3g} radians in a "
                f"step of {self.dt:g} s, and may by {LARGEST_TURN:g}: dt at most "
                f"{below(self.dt * LARGEST_TURN / turn)} s"
            )
        kick = CHARGE * float(np.linalg.norm(self.electric)) * self.dt / (MASS * LIGHT)
        if kick > FASTEST_ELECTRON:
            raise InputError(
                f"{self.name}: in {np.linalg.norm(self.electric):g} V/m an electron gains {kick:.3g} m c in a step of "
                f"{self.dt:g} s, and may {FASTEST_ELECTRON:g}"
            )
        if self.self_field:
            self._require_stable(courant)

    def _require_stable(self, courant: float):
        """Refuse electrons that are too many for the step, by themselves or together with the Courant number."""
        fast = self.plasma_frequency * self.dt
        if fast > _FASTEST:
            raise InputError(
                f"{self.name}: the plasma frequency times dt is {fast:.3g}, unstable above {_FASTEST:g}: dt at most "
                f"{below(self.dt * _FASTEST / fast)} s, or fewer electrons"
            )
        eigenvalue = largest_eigenvalue(self.mesh, self.dt, self._inert_density)
        if eigenvalue > 1:
            most = below(highest_density(self.mesh, self.dt))
            fewer = f", or {most} electrons in m3 instead of {self.density:.3g}" if most != "0" else ""
            raise InputError(
                f"{self.name}: a Courant number of {courant:.3g} and a plasma frequency times dt of {fast:.3g} are "
                f"unstable together: dt at most {below(self.dt / sqrt(eigenvalue))} s{fewer}"
            )

    def _require_known_energies(self):
        if self.air is None:
            return
        if self.source is not None:
            self.air.require_energies([self.source.energy])
        if len(self.electrons.weight):
            u2 = (self.electrons.momentum**2).sum(1)
            self.air.require_energies(REST_ENERGY * u2 / (1 + np.sqrt(1 + u2)))

    def _warn_of_the_unresolved(self):
        """Say which lengths the mesh does not resolve, where they matter."""
        speeds, finest, coarsest = self._momenta(), min(self.mesh.spacing), max(self.mesh.spacing)
        field_ = float(np.linalg.norm(self.magnetic))
        way = max(courant_numbers(self.mesh, self.dt))
        if line := lost_to_rounding(self.dt, "light goes {} of a cell", way, _SLOWEST, " s"):
            self._warn(line)
        radius = speeds * MASS * LIGHT / (CHARGE * (field_ or SMALLEST))
        if field_ and 0 < radius < _RESOLVED * finest:
            self._warn(
                f"electrons gyrate with a radius of {radius:.3g} m in cells of {finest:.3g} m: cells of at most "
                f"{radius / _RESOLVED:.2g} m resolve it"
            )
        debye = min(speeds, 1.0) * LIGHT / max(self.plasma_frequency, 1e-300)
        if self.self_field and 0 < debye < _RESOLVED * coarsest:
            self._warn(
                f"the Debye length is {debye:.3g} m in cells of {coarsest:.3g} m: electrons will heat up until it is "
                f"resolved, which cells of at most {debye / _RESOLVED:.2g} m do"
            )

    def _warn_of_the_light(self):
        """Say of which particles the currents are cut, since sums have room for so many of the heaviest."""
        units = self._lightest * units_of_weight(self.total_weight)
        if self.self_field and units < _LEAST_UNITS:
            least = self._lightest * _LEAST_UNITS / units
            self._warn(
                f"a particle of weight {self._lightest:.3g} carries {'no' if units < 1 else 'only a part of its'} "
                f"current beside {self.room} of up to {self.heaviest:.3g}: weights of at least {least:.2g}, or a lower "
                "capacity"
            )

    @property
    def _lightest(self) -> float:
        """The smallest weight of a particle."""
        given = float(self.electrons.weight.min(initial=np.inf))
        return min(given, np.inf if self.source is None else self.source.weight, self.heaviest)

    def _warn(self, line: str):
        warnings.warn(f"{self.name}: {line}", stacklevel=6)

    def _momenta(self) -> float:
        """Root mean square of the momenta over m c along one axis at the start, 0 where nothing moves."""
        squares, weights = [], []
        u, weight = self.electrons.momentum, self.electrons.weight
        if len(weight):
            spread = u - np.average(u, axis=0, weights=weight)
            squares.append(float(np.average((spread**2).sum(1), weights=weight) / 3))
            weights.append(float(weight.sum()))
        if self.source is not None:
            squares.append(self.source.momentum**2 / 3)
            weights.append(self.source.weight * max(self.source.start, 1))
        return sqrt(np.average(squares, weights=weights)) if squares else 0.0


def below(value: float) -> str:
    """A number of three digits that is not above a value, as text."""
    if value <= 0:
        return "0"
    scale = 10.0 ** (ceil(np.log10(value)) - 3)
    return f"{np.floor(value / scale) * scale:.3g}"
