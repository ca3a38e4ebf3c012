"""The fluid's parameters, in units of cutoff radius, particle mass and thermal energy at kT = 1."""

from dataclasses import dataclass
from math import isfinite, sqrt

from repro.errors import InputError


@dataclass(frozen=True)
class Fluid:
    """A DPD fluid and its integrator; the defaults are the paper's (table 3, kT = 1)."""

    #: number density, particles per cubed cutoff radius
    density: float = 4.0
    #: a of equation 1
    repulsion: float = 18.75
    #: sigma of equation 3
    sigma: float = 3.0
    #: thermal energy kT
    temperature: float = 1.0
    #: time step
    dt: float = 0.02
    #: lambda of the modified velocity-Verlet integrator (Groot and Warren 1997)
    predictor: float = 0.65

    def __post_init__(self):
        for name in ("density", "sigma", "temperature", "dt"):
            value = getattr(self, name)
            _require(isfinite(value) and value > 0, f"{name} = {value}: it must be positive")
        _require(isfinite(self.repulsion) and self.repulsion >= 0, f"repulsion = {self.repulsion}: at least 0")
        _require(0 <= self.predictor <= 1, f"predictor = {self.predictor}: lambda lies between 0 and 1")

    @property
    def friction(self) -> float:
        """gamma of equation 2, from sigma^2 = 2 gamma kT (equation 5)."""
        return self.sigma**2 / (2 * self.temperature)

    @property
    def noise(self) -> float:
        """sigma / sqrt(dt): the noise's amplitude in a step."""
        return self.sigma / sqrt(self.dt)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InputError(message)
