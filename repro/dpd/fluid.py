"""The fluid's parameters, in units of cutoff radius, particle mass and thermal energy at kT = 1."""

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Annotated

from repro.declared import Above, Each, Kind, Number, checked
from repro.errors import InputError, require

from .forces import GROOT_WARREN, MORE, Law

#: distances at which a law is tried
TRIED = [k / 20 for k in range(1, 20)]


@dataclass(frozen=True)
@checked
class Fluid:
    """A DPD fluid and its integrator; its defaults are the paper's (table 3), else Groot and Warren's."""

    #: number density, particles per cubed cutoff radius
    density: Annotated[float, Above(0, "particles per cubed cutoff radius")] = 4.0
    #: a of equation 1
    repulsion: Annotated[float, Number(0)] = 18.75
    #: sigma of equation 3
    sigma: Annotated[float, Above(0)] = 3.0
    #: thermal energy kT, which the paper does not state
    temperature: Annotated[float, Above(0)] = 1.0
    #: time step
    dt: Annotated[float, Above(0)] = 0.02
    #: lambda of the modified velocity-Verlet integrator (Groot and Warren 1997)
    predictor: Annotated[float, Number(0, 1)] = 0.65
    #: the force of a pair: the paper's, or one of your own
    law: Annotated[Law, Kind(Law, wanted="a law, as @repro.dpd.conservative makes it of a function")] = GROOT_WARREN
    #: numbers that a law of your own takes after `repulsion`
    parameters: tuple[float, ...] = ()

    def __post_init__(self):
        Each(Number(), max(self.law.numbers - 1, 0)).check(f"parameters of the law {self.law.name}", self.parameters)
        object.__setattr__(self, "parameters", tuple(self.parameters))
        for distance in TRIED:
            force = self.conservative_force(distance)
            result = f"the law {self.law.name} gives {force} at r = {distance:g}"
            require(isfinite(force), f"{result}: a finite number is needed")

    def conservative_force(self, distance: float) -> float:
        """The force along the line of centres at a distance below one, without friction and noise (equation 1)."""
        p = (self.repulsion, *[0.0] * (MORE - 1), *self.parameters)
        try:
            return self.law.along(distance, 0.0, 0.0, p, 1.0)
        except (ArithmeticError, ValueError, TypeError) as error:
            raise InputError(f"the law {self.law.name} fails at r = {distance:g}: {error}") from None

    @property
    def friction(self) -> float:
        """gamma of equation 2, from sigma^2 = 2 gamma kT (equation 5)."""
        return self.sigma**2 / (2 * self.temperature)

    @property
    def noise(self) -> float:
        """sigma / sqrt(dt): the noise's amplitude in a step."""
        return self.sigma / sqrt(self.dt)
