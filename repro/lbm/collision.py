"""The collision of a run of nodes, with one or two relaxation times.

The even and the odd part of each pair of opposite populations relax at rates of their own (Ginzburg, Verhaeghe,
d'Humieres, Commun. Comput. Phys. 3 (2008) 427). The even rate 1/tau sets the viscosity nu = (tau - 1/2)/3 (porous
paper, equation 2.7). With equal rates this is BGK, equation 2.6; the choice of the odd rate is in `model.Problem`.
"""

from functools import cache

from repro.parallel import device_function

from .equilibrium import VELOCITY_SHARE, even, make_moments, odd, pair_constants
from .lattice import Lattice
from .mrt import make_moment_collision
from .storage import make_storage

COLLISIONS = ("bgk", "trt", "mrt", "mrt-dhumieres")


def make_collision(lattice: Lattice, dtype, forcing: str | None, collision: str, storage: str = "deviation"):
    """The collision operator collide(s, n, rates, force), in place in the scratch of a run; see `storage`."""
    if collision.startswith("mrt"):
        return make_moment_collision(lattice, dtype, forcing, collision, storage)
    return make_pair_collision(lattice, dtype, forcing, storage)


@cache
def make_pair_collision(lattice: Lattice, dtype, forcing: str | None, storage: str = "deviation"):
    """The collision with a rate for even and one for odd parts, collide(s, n, rates, force), see `make_collision`."""
    q, pairs, forced, share = lattice.q, lattice.q // 2, forcing is not None, VELOCITY_SHARE.get(forcing, 0.0)
    one, half, three, three_halves, kept = map(dtype, (1, 0.5, 3, 1.5, share))
    rest, (weights, cx, cy, cz) = dtype(lattice.weights[0]), pair_constants(lattice, dtype)
    moments = make_moments(lattice, dtype, share)
    enter, leave = make_storage(lattice, dtype, storage)

    @device_function
    def collide(s, n, rates, force):
        even_rate, odd_rate = rates
        fx, fy, fz = inner = enter(s, n, force)
        moments(s, n, inner)
        even_force, odd_force = one - kept * even_rate, one - kept * odd_rate
        even_kept, odd_kept = half * (one - even_rate), half * (one - odd_rate)
        for k in range(n):
            ux, uy, uz = s[q + 1, k], s[q + 2, k], s[q + 3, k]
            three_halves_u2 = three_halves * (ux * ux + uy * uy + uz * uz)
            s[0, k] += even_rate * (even(rest, s[q, k], dtype(0), three_halves_u2) - s[0, k])
            if forced:
                s[0, k] -= even_force * rest * three * (ux * fx + uy * fy + uz * fz)
        for pair in range(pairs):
            i, weight, kx, ky, kz = 2 * pair + 1, weights[pair], cx[pair], cy[pair], cz[pair]
            push = three * (kx * fx + ky * fy + kz * fz)
            for k in range(n):
                ux, uy, uz = s[q + 1, k], s[q + 2, k], s[q + 3, k]
                three_cu = kx * (three * ux) + ky * (three * uy) + kz * (three * uz)
                three_halves_u2 = three_halves * (ux * ux + uy * uy + uz * uz)
                symmetric = even_kept * (s[i, k] + s[i + 1, k])
                symmetric += even(even_rate * weight, s[q, k], three_cu, three_halves_u2)
                antisymmetric = odd_kept * (s[i, k] - s[i + 1, k]) + odd(odd_rate * weight, s[q, k], three_cu)
                if forced:
                    symmetric += even_force * weight * (three_cu * push - three * (ux * fx + uy * fy + uz * fz))
                    antisymmetric += odd_force * weight * push
                s[i, k], s[i + 1, k] = symmetric + antisymmetric, symmetric - antisymmetric
        leave(s, n, force)

    return collide
