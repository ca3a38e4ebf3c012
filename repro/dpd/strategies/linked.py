"""The paper's cell list of the CPU: two arrays of links, on one core, each pair once (section 4.1, table 1)."""

from functools import cache

from numpy import float64

from repro.parallel import Kernel, device_function
from repro.particles.cells import ALL_CELLS, OWN_CELL, make_place, neighbour
from repro.particles.linked_list import LinkedList

from ..noise import thread_words
from ..pair import Pair, add_to, make_force, take_from
from .setup import Forces, Setup, Traits
from .sums import double_sums

TRAITS = Traits(devices=("serial",))


@cache
def _body(real, pair: Pair):
    place, separation, force = make_place(real), pair.separation, make_force(real, pair)
    zero, one = float64(0), real(1)

    @device_function
    def forces(x, n, particles, sums, source, last, before, p, cells):
        r, _, u, ids, count, moving = particles
        key = (source.seed, source.clock[0])
        for i in range(x, x + n):
            words = thread_words(i, key)
            # what belongs to i stays in registers: through memory, pair by pair, the loop takes three times as long
            number, xi, yi, zi = ids[i], r[i], r[count + i], r[2 * count + i]
            velocity = u[i], u[count + i], u[2 * count + i]
            fx, fy, fz, share = zero, zero, zero, zero
            own = place(xi, yi, zi, cells)
            for k in range(OWN_CELL, ALL_CELLS):
                j = before[i] if k == OWN_CELL else last[neighbour(own, k, cells)]
                while j >= 0:
                    distance = separation(xi, yi, zi, j, particles, p)
                    if distance[3] < one and min(number, ids[j]) < moving:
                        (gx, gy, gz, more), words = force(distance, number, velocity, j, particles, key, p, words)
                        fx, fy, fz, share = fx + gx, fy + gy, fz + gz, share + more
                        take_from(sums.f, j, count, gx, gy, gz)
                    j = before[j]
            add_to(sums, i, count, fx, fy, fz, share)

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    state, device, cells = setup.state, setup.device, setup.cells
    links = LinkedList(device, cells, state.count, setup.real)
    sums, clear, round_off = double_sums(setup)
    run = device.compile(Kernel(_body(setup.real, setup.pair), strict=True))(
        (state.count,),
        *(state.particles, sums, setup.noise_state, links.last, links.before, setup.numbers, cells.shape),
    )
    return Forces(links.update(state.r) | {"clear": clear, "forces": run, "round off": round_off})
