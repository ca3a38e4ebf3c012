"""The collision of a run of nodes, with one or two relaxation times.

The even and the odd part of each pair of opposite populations relax at rates of their own (Ginzburg, Verhaeghe,
d'Humieres, Commun. Comput. Phys. 3 (2008) 427). The even rate 1/tau sets the viscosity nu = (tau - 1/2)/3 (porous
paper, equation 2.7). With equal rates this is BGK, equation 2.6; the choice of the odd rate is in `model.Problem`.
"""

from functools import cache

from repro.parallel import inline

from .equilibrium import equilibrium_of, moments_of, pair_constants
from .forcing import VELOCITY_SHARE
from .lattice import Lattice
from .mrt import moment_collision_of

COLLISIONS = ("bgk", "trt", "mrt", "mrt-dhumieres")


def collision_of(lattice: Lattice, dtype, forcing: str | None, collision: str):
    """Returns collide(s, n, rates, force), in place in the scratch of a run."""
    if collision.startswith("mrt"):
        return moment_collision_of(lattice, dtype, forcing, collision)
    return _pair_collision_of(lattice, dtype, forcing)


@cache
def _pair_collision_of(lattice: Lattice, dtype, forcing: str | None):
    q, pairs, forced, share = lattice.q, lattice.q // 2, forcing is not None, VELOCITY_SHARE.get(forcing, 0.0)
    one, half, three, three_halves, kept = map(dtype, (1, 0.5, 3, 1.5, share))
    rest, (weights, cx, cy, cz) = dtype(lattice.weights[0]), pair_constants(lattice, dtype)
    moments = moments_of(lattice, dtype, share)
    even, odd = equilibrium_of(dtype)

    @inline
    def collide(s, n, rates, force):
        even_rate, odd_rate = rates
        fx, fy, fz = force
        moments(s, n, force)
        even_force, odd_force = one - kept * even_rate, one - kept * odd_rate
        for lane in range(n):
            ux, uy, uz = s[q + 1, lane], s[q + 2, lane], s[q + 3, lane]
            speed = three_halves * (ux * ux + uy * uy + uz * uz)
            s[0, lane] += even_rate * (even(rest, s[q, lane], dtype(0), speed) - s[0, lane])
            if forced:
                s[0, lane] -= even_force * rest * three * (ux * fx + uy * fy + uz * fz)
        for pair in range(pairs):
            i, weight, kx, ky, kz = 2 * pair + 1, weights[pair], cx[pair], cy[pair], cz[pair]
            push = three * (kx * fx + ky * fy + kz * fz)
            for lane in range(n):
                ux, uy, uz = s[q + 1, lane], s[q + 2, lane], s[q + 3, lane]
                along = three * (kx * ux + ky * uy + kz * uz)
                speed = three_halves * (ux * ux + uy * uy + uz * uz)
                mean, slope = half * (s[i, lane] + s[i + 1, lane]), half * (s[i, lane] - s[i + 1, lane])
                symmetric = even_rate * (even(weight, s[q, lane], along, speed) - mean)
                antisymmetric = odd_rate * (odd(weight, s[q, lane], along) - slope)
                if forced:
                    symmetric += even_force * weight * (along * push - three * (ux * fx + uy * fy + uz * fz))
                    antisymmetric += odd_force * weight * push
                s[i, lane] += symmetric + antisymmetric
                s[i + 1, lane] += symmetric - antisymmetric

    return collide
