"""A serial program after the paper's text: two arrays of links, on one core (section 4.1, table 1).

Each pair is met once: half of the surrounding cells are enough, as section 4.3 has it for the GPU. That the serial
program does so, too, is our reading.

With rounds=0 its noise is as in the paper: one running sequence of linear congruential numbers, taken by one pair after
the other and carried on from step to step (section 4.3). With TEA it has the noise of all other strategies, and is the
reference for their forces.
"""

from functools import cache

from numpy import float64

from repro.parallel import device_function
from repro.particles.cells import ALL_CELLS, OWN_CELL, make_place, neighbour
from repro.particles.launch import launch_of
from repro.particles.linked_list import LinkedList

from ..pair import Pair, add_to, make_force, make_pair, take_from
from .setup import Forces, Setup, Traits
from .sums import clear_sums, double_sums

TRAITS = Traits(devices=("serial",), linear=True)


@cache
def _body(real, pair: Pair, sum_type):
    place, separation, force = make_place(real), pair.separation, make_force(real, pair)
    zero, one = sum_type(0), real(1)

    @device_function
    def forces(x, n, particles, sums, source, last, before, p, cells):
        r, _, u, ids, count, moving = particles
        key = (source.seed, source.clock[0])
        words = source.sequence[0], source.sequence[0]
        for i in range(x, x + n):
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
        source.sequence[0] = words[1]

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays.

    With TEA forces are summed in double precision, see `sums.double_sums`; the paper's program has one precision.
    """
    state, device, cells, real = setup.state, setup.device, setup.cells, setup.real
    links = LinkedList(device, cells, state.count, real)
    if setup.rounds:
        body, (sums, clear, round_off) = _body(real, setup.pair, float64), double_sums(setup)
        after = {"round off": round_off}
    else:
        body = _body(real, make_pair(real, 0, setup.fluid.law, running=True), real)
        sums, clear, after = state.sums, clear_sums(setup, state.sums), {}
    arguments = state.particles, sums, setup.noise_state, links.last, links.before, setup.numbers, cells.shape
    run = launch_of(device, body, state.count, *arguments, strict=True)
    return Forces(links.update(state.r) | {"clear": clear, "forces": run} | after)
