"""The modified velocity-Verlet integrator (Groot and Warren 1997), in two halves around the forces.

    r += dt v + dt^2 f / 2          drift
    u  = v + lambda dt f            the velocity that the new forces see
    v += dt f / 2
    f  = f(r, u) + g                by a strategy, and the body force
    v += dt f / 2                   kick

The body force g points along x; from the height `turn` on it points the other way (reverse Poiseuille flow).
"""

from repro.parallel import inline

from .position import moved, upper_bits


def drift_body(real, bounce):
    """First half of a step; bounce(x, z, u, v, w, id, seed, step, walls) is the velocity after a look at the wall."""
    half, move = real(0.5), moved(real)

    @inline
    def drift(x, n, r, v, u, f, ids, clock, count, fluid, seed, dt, predictor, per_length, walls):
        step = clock[0]
        for i in range(x, x + n):
            if ids[i] < fluid:
                j, k = i + count, i + 2 * count
                r[i] = move(r[i], per_length[0] * dt * (v[i] + half * dt * f[i]))
                r[j] = move(r[j], per_length[1] * dt * (v[j] + half * dt * f[j]))
                r[k] = move(r[k], per_length[2] * dt * (v[k] + half * dt * f[k]))
                vx, vy, vz = bounce(r[i], r[k], v[i], v[j], v[k], ids[i], seed, step, walls)
                u[i], u[j], u[k] = vx + predictor * dt * f[i], vy + predictor * dt * f[j], vz + predictor * dt * f[k]
                v[i], v[j], v[k] = vx + half * dt * f[i], vy + half * dt * f[j], vz + half * dt * f[k]

    return drift


def kick_body(real):
    """Second half of a step; the last thing in a step, so it counts the step. `turn` is in upper bits of z."""
    half, upper = real(0.5), upper_bits(real)

    @inline
    def kick(x, n, r, v, f, ids, clock, count, fluid, dt, g, turn):
        for i in range(x, x + n):
            if ids[i] < fluid:
                f[i] += g if upper(r[i + 2 * count]) < turn else -g
                for k in range(3):
                    v[i + k * count] += half * dt * f[i + k * count]
            if i == 0:
                clock[0] += 1

    return kick
