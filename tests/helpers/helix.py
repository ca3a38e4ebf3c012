"""An electron's helix by other means than the solver's: SciPy's rotations, and quadrature for the way."""

import numpy as np
from scipy.spatial.transform import Rotation

#: nodes and weights on [0, 1]: to rounding for angles up to a few radians
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def turned(u, magnetic, t):
    """The momentum after t of a step in the field B~; t may be an array, and so is the result."""
    u, magnetic = np.asarray(u, float), np.asarray(magnetic, float)
    rate = magnetic / np.sqrt(1 + u @ u)
    return Rotation.from_rotvec(np.multiply.outer(np.asarray(t, float), rate)).apply(u)


def displaced(u, magnetic, courant, t):
    """The way in cells after t of a step."""
    u = np.asarray(u, float)
    momenta = turned(u, magnetic, t * (_NODES + 1) / 2)
    return np.asarray(courant, float) / np.sqrt(1 + u @ u) * t * (_WEIGHTS / 2 @ momenta)
