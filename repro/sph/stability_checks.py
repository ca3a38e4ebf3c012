"""What stops a run: particles that are nowhere or through a wall, and time steps beyond the limits of the moment."""

import numpy as np

from repro.errors import DivergenceError

from .fluid import time_steps
from .system import System

#: spacings beyond a wall at which a particle is through it: there are the first ghosts. Thin films, of which equation 4
#: remembers more neighbours than they have, lie nearer to a wall than half a spacing, and touch it where they pile up.
THROUGH = 0.5


def require_inside(excursion: np.ndarray, velocity: np.ndarray, system: System, when: str) -> None:
    """Raise DivergenceError if a particle had no finite velocity, or was through a wall; it names one.

    `excursion` in m is how far each particle has ever been outside the tank, infinite without a finite velocity.
    """
    bad = ~(np.isfinite(velocity).all(1) & np.isfinite(excursion))
    if bad.any():
        raise DivergenceError(
            f"{system.name}: particle {int(bad.argmax())} has no finite velocity {when}: "
            f"use a time step below {system.dt:g} s"
        )
    through = excursion > THROUGH * system.resolution.spacing
    if through.any():
        worst = int(excursion.argmax())
        raise DivergenceError(
            f"{system.name}: particle {worst} was through a wall {when}, {excursion[worst]:.3g} m outside the tank, "
            f"and {int(through.sum())} in all: use a smaller time step"
        )


def require_limits(particles: dict[str, np.ndarray], system: System, when: str) -> None:
    """Raise DivergenceError if the time step is beyond a limit that speeds, accelerations and densities now set."""
    speeds, accelerations = (np.linalg.norm(particles[name], axis=1) for name in ("velocity", "acceleration"))
    fastest, hardest, dense = (values.max(initial=0) for values in (speeds, accelerations, particles["condensation"]))
    limits = time_steps(system.fluid, system.resolution, fastest, hardest, dense)
    name = min(limits, key=limits.get)
    if not system.dt <= limits[name]:
        raise DivergenceError(
            f"{system.name}: the time step {system.dt:.3g} s is beyond the {name} limit, {limits[name]:.3g} s, {when}: "
            f"particles reach {fastest:.3g} m/s, {hardest:.3g} m/s2 and {dense:.2%} of compression"
        )
