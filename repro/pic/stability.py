"""How long a step may be: the Courant number and the plasma frequency have one limit together.

Electrons at rest that fill the cells evenly oscillate in Yee's scheme, with the weights of `gather` and `deposition`,
so that sin^2(omega dt / 2) is an eigenvalue of

    |K|^2 - K K^T + (omega_p dt / 2)^2 diag(m_y m_z, m_z m_x, m_x m_y),

    K_i = C_i sin(k_i h_i / 2),    C_i = c dt / h_i,    m_i = 1 - 2/3 sin^2(k_i h_i / 2),

where m_i is the mean square of linear weights across a cell. A mode with an eigenvalue above 1 grows. The largest one
is at a corner of the Brillouin zone or in the middle of one of its edges or faces: with a >= b >= c for the C_i^2 and
w = (omega_p dt / 2)^2 it is the largest of w, a + b + w / 3 and a + b + c + w / 9.
"""

import numpy as np

from .constants import CHARGE, MASS, PERMITTIVITY
from .exact import plasma_frequency
from .maxwell.fields import courant_numbers
from .mesh import Mesh


def slowness(momentum: np.ndarray) -> np.ndarray:
    """1 / gamma of momenta over m c, (count, 3): as which share of an electron at rest it counts in omega_p^2.

    That is across its way; along it the share is smaller.
    """
    return 1 / np.sqrt(1 + np.sum(np.square(momentum), axis=1))


def largest_eigenvalue(mesh: Mesh, dt: float, density: float) -> float:
    """The largest sin^2(omega dt / 2) of all waves on the mesh, which grow above 1; it goes with dt squared."""
    squares, plasma = _squares(mesh, dt), (plasma_frequency(density) * dt / 2) ** 2
    return max(plasma, *(sum(squares[:axes]) + share * plasma for axes, share in _modes(squares)))


def highest_density(mesh: Mesh, dt: float) -> float:
    """Most electrons at rest in a cubic metre that are stable in steps of dt seconds."""
    squares = _squares(mesh, dt)
    plasma = min(1.0, *((1 - sum(squares[:axes])) / share for axes, share in _modes(squares)))
    return max(plasma, 0.0) * MASS * PERMITTIVITY * (2 / (CHARGE * dt)) ** 2


def _squares(mesh: Mesh, dt: float) -> list[float]:
    """C_i^2 of the axes along which fields can change, the largest first."""
    numbers = zip(courant_numbers(mesh, dt), mesh.shape, mesh.boundaries, strict=True)
    return sorted((number**2 for number, cells, kind in numbers if cells > 1 or kind != "periodic"), reverse=True)


def _modes(squares: list[float]) -> list[tuple[int, float]]:
    """Along how many axes the shortest waves are short, and their share of (omega_p dt / 2)^2."""
    shares = {0: 1.0, 1: 1 / 3, 2: 1 / 3, 3: 1 / 9}
    return [(axes, shares[axes]) for axes in range(len(squares) + 1)]
