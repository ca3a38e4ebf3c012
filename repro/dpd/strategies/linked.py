"""The paper's cell list of the CPU: two arrays of links, on one core, each pair once (section 4.1, table 1)."""

import numpy as np

from repro.parallel import InputError, Kernel, inline

from ..cells import ALL_CELLS, OWN_CELL, cell_of, neighbour
from ..random import thread_words
from .setup import Forces, Setup, adding, clear_forces


@inline
def _unlink(x, n, last):
    for c in range(x, x + n):
        last[c] = -1


def _link_body(real):
    cell = cell_of(real)

    @inline
    def link(x, n, r, last, before, count, cells):
        for i in range(x, x + n):
            c = cell(r[i], r[count + i], r[2 * count + i], cells)
            before[i] = last[c]
            last[c] = i

    return link


def _body(setup: Setup):
    both, cell = adding(setup.real, setup.noise, setup.device.add), cell_of(setup.real)

    @inline
    def forces(x, n, r, u, f, virial, ids, clock, last, before, count, fluid, seed, p, cells):
        step = clock[0]
        for i in range(x, x + n):
            first, second = thread_words(i, seed, step)
            own = cell(r[i], r[count + i], r[2 * count + i], cells)
            for k in range(OWN_CELL, ALL_CELLS):
                j = before[i] if k == OWN_CELL else last[neighbour(own, k, cells)]
                while j >= 0:
                    first, second = both(i, j, f, virial, r, u, ids, count, fluid, seed, step, p, first, second)
                    j = before[j]

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays; raises InputError for more than one worker."""
    state, device, cells = setup.state, setup.device, setup.cells
    if device.name != "serial":
        raise InputError(f"'linked' builds its list particle after particle, on one core: not on '{device.name}'")
    last, before = device.zeros(cells.count, np.int32), device.zeros(state.count, np.int32)
    run = device.compile(Kernel(_body(setup)))(
        (state.count,),
        *(state.r, state.u, state.f, state.virial, state.ids, state.clock, last, before),
        *(state.count, state.fluid, setup.seed, setup.numbers, cells.shape),
    )
    return Forces(
        {
            "unlink": device.compile(Kernel(_unlink))((cells.count,), last),
            "link": device.compile(Kernel(_link_body(setup.real)))(
                (state.count,), state.r, last, before, state.count, cells.shape
            ),
            "clear": device.compile(Kernel(clear_forces))((state.count,), state.f, state.virial, state.count),
            "forces": run,
        }
    )
