"""The force of a pair (equations 1 to 5): a soft repulsion, friction along the line of centres, and noise.

Lengths are in cutoff radii, masses in particle masses. `approach` is e . v, the relative velocity along the line of
centres, positive when the particles part.
"""

from repro.parallel import fma, inline


@inline
def weight(distance, one):
    """The weight of the noise, w_R = 1 - r; `one` has the type of the distance."""
    return max(one - distance, one - one)


@inline
def pair_force(distance, approach, deviate, repulsion, friction, amplitude, one):
    """The force on the first particle of a pair along e, the unit vector from the second to the first.

    Equation 1 is a w_R, equation 2 with w_D = w_R^2 (equation 4) is -gamma w_R^2 e . v, and equation 3 is
    sigma w_R xi / sqrt(dt): `amplitude` is sigma / sqrt(dt), `deviate` xi has variance one.
    """
    w = weight(distance, one)
    return w * fma(amplitude, deviate, fma(-friction * w, approach, repulsion))
