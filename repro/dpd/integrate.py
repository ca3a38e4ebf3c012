"""The modified velocity-Verlet integrator (Groot and Warren 1997), in two halves around the forces.

    r += dt v + dt^2 f / 2          drift
    u  = v + lambda dt f            the velocity that the new forces see
    v += dt f / 2
    f  = f(r, u) + g                by a strategy, and the body force
    v += dt f / 2                   kick

The body force g points along x; from the height `turn` on it points the other way (reverse Poiseuille flow).
"""

from repro.parallel import inline

from .cells import wrapped


def drift_body(real, bounce):
    """First half of a step; bounce(x, z, u, v, w, id, seed, step, walls) is the velocity after a look at the wall."""
    half = real(0.5)

    @inline
    def drift(x, n, r, v, u, f, ids, clock, count, fluid, seed, dt, predictor, box, walls):
        step = clock[0]
        for i in range(x, x + n):
            if ids[i] < fluid:
                j, k = i + count, i + 2 * count
                x_new = wrapped(r[i] + dt * (v[i] + half * dt * f[i]), box[0])
                y_new = wrapped(r[j] + dt * (v[j] + half * dt * f[j]), box[1])
                z_new = wrapped(r[k] + dt * (v[k] + half * dt * f[k]), box[2])
                vx, vy, vz = bounce(x_new, z_new, v[i], v[j], v[k], ids[i], seed, step, walls)
                r[i], r[j], r[k] = x_new, y_new, z_new
                u[i], u[j], u[k] = vx + predictor * dt * f[i], vy + predictor * dt * f[j], vz + predictor * dt * f[k]
                v[i], v[j], v[k] = vx + half * dt * f[i], vy + half * dt * f[j], vz + half * dt * f[k]

    return drift


def kick_body(real):
    """Second half of a step; the last thing in a step, so it counts the step."""
    half = real(0.5)

    @inline
    def kick(x, n, r, v, f, ids, clock, count, fluid, dt, g, turn):
        for i in range(x, x + n):
            if ids[i] < fluid:
                f[i] += g if r[i + 2 * count] < turn else -g
                for k in range(3):
                    v[i + k * count] += half * dt * f[i + k * count]
            if i == 0:
                clock[0] += 1

    return kick
