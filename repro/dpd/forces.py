"""The forces of a pair (equations 1 to 5): a soft repulsion, friction along the line of centres, and noise.

Lengths are in cutoff radii, masses in particle masses. `approach` is e . v, the relative velocity along the line of
centres, positive when the particles part.
"""

from repro.parallel import inline


@inline
def weight(distance, one):
    """The weight of the noise, w_R = 1 - r; `one` has the type of the distance."""
    return max(one - distance, one - one)


@inline
def conservative(w, repulsion):
    """Equation 1: the soft repulsion a (1 - r), along e."""
    return repulsion * w


@inline
def dissipative(w, approach, friction):
    """Equation 2 with w_D = w_R^2 (equation 4): friction against the relative motion, along e."""
    return -friction * w * w * approach


@inline
def stochastic(w, deviate, amplitude):
    """Equation 3: noise along e; `amplitude` is sigma / sqrt(dt), `deviate` has variance one."""
    return amplitude * w * deviate


@inline
def pair_force(distance, approach, deviate, repulsion, friction, amplitude, one):
    """The force on the first particle of a pair along e, the unit vector from the second to the first."""
    w = weight(distance, one)
    return conservative(w, repulsion) + dissipative(w, approach, friction) + stochastic(w, deviate, amplitude)
