"""The paper's cell list of the CPU: two arrays of links, on one core, each pair once (section 4.1, table 1)."""

from functools import cache

from numpy import float64

from repro.parallel import Kernel, inline
from repro.particles.cells import ALL_CELLS, OWN_CELL, cell_of, neighbour
from repro.particles.linked_list import LinkedList

from ..noise import thread_words
from ..pair import add_to, reacting
from .setup import Forces, Setup, Traits
from .sums import double_sums

TRAITS = Traits(devices=("serial",))


@cache
def _body(real, noise):
    cell, react, zero = cell_of(real), reacting(real, noise), float64(0)

    @inline
    def forces(x, n, particles, sums, source, last, before, p, cells):
        r, _, u, ids, count, _ = particles
        key = source.seed, source.clock[0]
        for i in range(x, x + n):
            words, force = thread_words(i, key), (zero, zero, zero, zero)
            position, velocity = (r[i], r[count + i], r[2 * count + i]), (u[i], u[count + i], u[2 * count + i])
            number, own = ids[i], cell(position[0], position[1], position[2], cells)
            for k in range(OWN_CELL, ALL_CELLS):
                j = before[i] if k == OWN_CELL else last[neighbour(own, k, cells)]
                while j >= 0:
                    force, words = react(number, position, velocity, j, force, sums.f, particles, key, p, words)
                    j = before[j]
            add_to(sums, i, count, force)

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    state, device, cells = setup.state, setup.device, setup.cells
    links = LinkedList(device, cells, state.count, setup.real)
    sums, clear, round_off = double_sums(setup)
    run = device.compile(Kernel(_body(setup.real, setup.noise), strict=True))(
        (state.count,),
        *(state.particles, sums, setup.noise_state, links.last, links.before, setup.numbers, cells.shape),
    )
    return Forces(links.update(state.r) | {"clear": clear, "forces": run, "round off": round_off})
