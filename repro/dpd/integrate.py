"""The modified velocity-Verlet integrator (Groot and Warren 1997), in two halves around the forces.

    r += dt v + dt^2 f / 2          drift
    u  = v + lambda dt f            the velocity that the new forces see
    v += dt f / 2
    f  = f(r, u) + g                by a strategy, and the body force
    v += dt f / 2                   kick

The body force g points along x; from the height `turn` on it points the other way (reverse Poiseuille flow).
"""

from functools import cache

from repro.parallel import device_function, fma
from repro.particles.position import cell_bits, moved


@cache
def drift_body(real, bounce):
    """First half of a step; bounce(x, z, velocity, id, key, walls) is the velocity, turned back near a wall."""
    half, move = real(0.5), moved(real)

    @device_function
    def drift(x, n, particles, f, noise, dt, predictor, per_length, walls):
        r, v, u, ids, count, moving = particles
        key = noise.seed, noise.clock[0]
        for i in range(x, x + n):
            if ids[i] < moving:
                j, k = i + count, i + 2 * count
                r[i] = move(r[i], per_length[0], dt * fma(half * dt, f[i], v[i]))
                r[j] = move(r[j], per_length[1], dt * fma(half * dt, f[j], v[j]))
                r[k] = move(r[k], per_length[2], dt * fma(half * dt, f[k], v[k]))
                vx, vy, vz = bounce(r[i], r[k], (v[i], v[j], v[k]), ids[i], key, walls)
                ahead, middle = predictor * dt, half * dt
                u[i], u[j], u[k] = fma(ahead, f[i], vx), fma(ahead, f[j], vy), fma(ahead, f[k], vz)
                v[i], v[j], v[k] = fma(middle, f[i], vx), fma(middle, f[j], vy), fma(middle, f[k], vz)

    return drift


@cache
def kick_body(real):
    """Second half of a step; the last thing in a step, so it counts. `turn` is in upper bits of z."""
    half, upper = real(0.5), cell_bits(real)

    @device_function
    def kick(x, n, particles, f, noise, dt, g, turn):
        r, v, count = particles.r, particles.v, particles.count
        for i in range(x, x + n):
            if particles.ids[i] < particles.moving:
                f[i] += g if upper(r[i + 2 * count]) < turn else -g
                for k in range(3):
                    v[i + k * count] = fma(half * dt, f[i + k * count], v[i + k * count])
            if i == 0:
                noise.clock[0] += 1

    return kick
