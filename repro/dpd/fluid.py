"""The fluid's parameters, in units of cutoff radius, particle mass and thermal energy at kT = 1."""

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

from repro.declared import Above, Number, checked


@dataclass(frozen=True)
@checked
class Fluid:
    """A DPD fluid and its integrator; the defaults are the paper's (table 3, kT = 1)."""

    #: number density, particles per cubed cutoff radius
    density: Annotated[float, Above(0, "particles per cubed cutoff radius")] = 4.0
    #: a of equation 1
    repulsion: Annotated[float, Number(0)] = 18.75
    #: sigma of equation 3
    sigma: Annotated[float, Above(0)] = 3.0
    #: thermal energy kT
    temperature: Annotated[float, Above(0)] = 1.0
    #: time step
    dt: Annotated[float, Above(0)] = 0.02
    #: lambda of the modified velocity-Verlet integrator (Groot and Warren 1997)
    predictor: Annotated[float, Number(0, 1)] = 0.65

    @property
    def friction(self) -> float:
        """gamma of equation 2, from sigma^2 = 2 gamma kT (equation 5)."""
        return self.sigma**2 / (2 * self.temperature)

    @property
    def noise(self) -> float:
        """sigma / sqrt(dt): the noise's amplitude in a step."""
        return self.sigma / sqrt(self.dt)
