"""Two fluids by array arithmetic, straight from Porter et al., Phys. Rev. E 86 (2012) 036701: slow, and easy to check.

Populations are fbar, arrays (2, 19, nz, ny, nx), after streaming.
"""

import numpy as np

from repro.lbm.lattice import D3Q19
from repro.lbm.mrt import moment_matrix
from repro.lbm.two_fluids.forces import STENCILS

C = np.array(D3Q19.velocities, float)
W = np.array(D3Q19.weights)
REACH = range(-2, 3)


def shifted(field, e):
    """field(x + e) in a periodic box; arrays are [z, y, x]."""
    return np.roll(field, [-int(c) for c in e[::-1]], axis=(0, 1, 2))


def gradient(field, weights):
    """sum_e w(|e|^2) field(x + e) e."""
    found = np.zeros((3, *field.shape))
    for e in np.array(np.meshgrid(REACH, REACH, REACH)).reshape(3, -1).T:
        weight = weights.get(int(e @ e), 0.0)
        found += weight * e[:, None, None, None] * shifted(field, e)
    return found


def equilibrium(density, u):
    cu, uu = np.einsum("ia,a...->i...", C, u), (u * u).sum(0)
    return W[:, None, None, None] * density * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * uu)


def forces(problem, density):
    """Force per volume on each fluid, zero in solid."""
    solid = problem.space.solid
    found = []
    for k in (0, 1):
        potential = np.where(solid, problem.wetting[k] * problem.solid_density, problem.interaction * density[1 - k])
        body = np.array(problem.accelerations[k])[:, None, None, None]
        found.append(density[k] * (body - 6 * gradient(potential, STENCILS[problem.stencil])))
    return np.array(found)


def momentum_rates(problem):
    """With moments they are free; one says that the fluids relax towards the velocity of the mixture."""
    return [1 / tau if problem.collision == "bgk" else 1.0 for tau in problem.relaxation_times]


def rates(problem, k) -> np.ndarray:
    """The matrix M^-1 S M of fluid k."""
    tau, rows = problem.relaxation_times[k], moment_matrix(D3Q19)
    odd = 1 / tau if problem.collision == "bgk" else 1 / (0.5 + problem.magic / (tau - 0.5))
    of = {"q": odd, "m": odd, "j": momentum_rates(problem)[k]}
    matrix, s = np.array(list(rows.values())), [of.get(name[0], 1 / tau) for name in rows]
    return np.linalg.inv(matrix) @ np.diag(s) @ matrix


def velocity(problem, f, weights):
    """sum_k w_k (j_k + F_k/2)/sum_k w_k rho_k, and the forces."""
    density = np.where(problem.space.solid, 0.0, f.sum(1))
    force = forces(problem, density)
    momentum = np.einsum("ia,ki...->ka...", C, f) + force / 2
    weights = np.array(weights)
    total = np.einsum("k,ka...->a...", weights, momentum)
    return total / np.einsum("k,k...->...", weights, density), force


def collide(problem, f):
    u, force = velocity(problem, f, momentum_rates(problem))
    after = []
    for k in (0, 1):
        eq = equilibrium(f[k].sum(0), u)
        # (c_i - u) . F_k f_eq/(rho c_s^2)
        along = np.einsum("ia,a...->i...", C, force[k]) - (u * force[k]).sum(0)
        push = 3 * along * equilibrium(np.ones_like(eq[0]), u)
        after.append(f[k] + np.einsum("ij,j...->i...", rates(problem, k), eq - f[k] - push / 2) + push)
    return np.array(after)


def stream(problem, f):
    """What arrives at each node; a population that would come from solid is that of its opposite, sent back."""
    solid, after = problem.space.solid, np.empty_like(f)
    for i, c in enumerate(C):
        after[:, i] = [shifted(f[k, i], -c) for k in (0, 1)]
        back = shifted(solid, -c)
        after[:, i][:, back] = f[:, D3Q19.opposite[i]][:, back]
    return after


def run(problem, density_a, density_b, steps, start=(0.0, 0.0, 0.0)):
    """Densities and velocity of the mixture after `steps` steps from equilibria at a velocity; zero in solid."""
    solid = problem.space.solid
    u = np.asarray(start) if np.ndim(start) == 4 else np.reshape(start, (3, 1, 1, 1))
    f = np.array([equilibrium(np.where(solid, 0.0, d), u) for d in (density_a, density_b)])
    with np.errstate(all="ignore"):
        for _ in range(steps):
            f = stream(problem, np.where(solid, 0.0, collide(problem, f)))
        u, _ = velocity(problem, f, (1, 1))
    density = np.where(solid, 0.0, f.sum(1))
    return density[0], density[1], np.where(solid, 0.0, u)
