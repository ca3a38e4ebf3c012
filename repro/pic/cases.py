"""Set-ups by the numbers that matter: how far an electron flies in a step, how it gyrates, how dense the plasma is."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from repro.declared import Flag, Number, Whole, checked
from repro.errors import InputError
from repro.parallel import require_room

from .constants import CHARGE, LIGHT, MASS, PERMITTIVITY, SMALLEST
from .maxwell.fields import courant_limit
from .mesh import Mesh
from .system import MOST_PARTICLES, Electrons, Source, System

#: side of a cell in m; everything else follows it, so that another side makes the same numbers
SPACING = 1e-3

#: bytes that a particle takes while it is set up: position, momentum, weight, and what they are drawn from
DRAWN = 112


def weight_of(mesh: Mesh, frequency: float, particles: int) -> float:
    """Electrons that each of the particles in a box stands for, which have the plasma frequency `frequency` in 1/s."""
    return frequency**2 * MASS * PERMITTIVITY / CHARGE**2 * float(np.prod(mesh.length)) / particles


@dataclass(frozen=True, kw_only=True)
@checked
class _Case:
    """A periodic cube with electrons all over it, and what every such set-up has."""

    #: cells along each axis
    cells: Annotated[int, Whole(1, 1 << 12)] = 16
    #: particles a cell on average
    per_cell: Annotated[float, Number(SMALLEST)] = 30.0
    #: the time step as a share of the longest one with which Yee's scheme is stable
    courant: Annotated[float, Number(SMALLEST, 1)] = 0.95
    #: the plasma frequency times the time step
    plasma_step: Annotated[float, Number(SMALLEST)] = 0.1
    #: do the electrons' currents drive the fields?
    self_field: Annotated[bool, Flag()] = True
    seed: Annotated[int, Whole(0, 2**32 - 1)] = 1

    def __post_init__(self):
        if not 1 <= self.particles <= MOST_PARTICLES:
            raise InputError(
                f"per_cell = {self.per_cell}: {self.particles:g} particles in {self.cells}^3 cells, from 1 to "
                f"{MOST_PARTICLES}"
            )

    @property
    def particles(self) -> int:
        """Particles at the start."""
        return round(self.per_cell * self.cells**3)

    @property
    def mesh(self) -> Mesh:
        """The cube."""
        return Mesh((self.cells,) * 3, (SPACING,) * 3)

    @property
    def time_step(self) -> float:
        """In s."""
        return self.courant * courant_limit(self.mesh)

    @property
    def weight(self) -> float:
        """Electrons that a particle stands for."""
        return weight_of(self.mesh, self.plasma_step / self.time_step, self.particles)


@dataclass(frozen=True, kw_only=True)
@checked
class UniformSource(_Case):
    """The paper's test (section 3): electrons of one energy from a uniform source, in a constant magnetic field.

    The paper gives neither the energy nor the field. At 1 MeV an electron flies half a cell in a step and meets three
    faces in four steps, and its orbit, of a radius of ten cells, leads through subdomains again and again.
    """

    #: kinetic energy in eV
    energy: Annotated[float, Number(SMALLEST, unit="eV")] = 1e6
    #: radius in cells of an orbit across the field
    radius: Annotated[float, Number(SMALLEST)] = 10.0
    #: particles that the source adds in a step, as a share of the ones at the start
    births: Annotated[float, Number(0, 1)] = 1e-4
    #: steps for whose particles there is room
    steps: Annotated[int, Whole(0, 10**6)] = 500

    @property
    def source(self) -> Source:
        """The particles, those at the start included."""
        added = round(self.births * self.particles)
        return Source(self.energy, self.weight, start=self.particles, per_step=added, seed=self.seed)

    @property
    def magnetic(self) -> float:
        """The field in T, along z."""
        return self.source.momentum * MASS * LIGHT / (CHARGE * self.radius * SPACING)

    def system(self) -> System:
        """The box before its first step."""
        source = self.source
        return System(
            self.mesh,
            self.time_step,
            source=source,
            magnetic=(0.0, 0.0, self.magnetic),
            self_field=self.self_field,
            capacity=source.start + self.steps * source.per_step,
            name="uniform source",
        )


@dataclass(frozen=True, kw_only=True)
@checked
class Plasma(_Case):
    """Electrons at rest but for their heat, among ions at rest: slow, so that few meet a face. Other codes quote it.

    With the default heat the Debye length is half a cell.
    """

    plasma_step: Annotated[float, Number(SMALLEST)] = 0.05
    #: standard deviation of each component of the momentum over m c
    heat: Annotated[float, Number(SMALLEST)] = 0.05

    def system(self) -> System:
        """The plasma before its first step; raises MemoryLimitError where its particles do not fit."""
        require_room(self.particles, DRAWN)
        draw, shape = np.random.default_rng(self.seed), (self.particles, 3)
        position = draw.random(shape) * np.array(self.mesh.length)
        momentum = draw.normal(0.0, self.heat, shape)
        electrons = Electrons(position, momentum, np.full(self.particles, self.weight))
        return System(self.mesh, self.time_step, electrons, self_field=self.self_field, name="plasma")
