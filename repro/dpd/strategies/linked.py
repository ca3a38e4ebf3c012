"""The paper's cell list of the CPU: two arrays of links, on one core, each pair once (section 4.1, table 1)."""

import numpy as np
from numpy import float64

from repro.parallel import InputError, Kernel, inline

from ..cells import ALL_CELLS, OWN_CELL, cell_of, neighbour
from ..pair import separation
from ..random import thread_words
from .setup import Forces, Setup, double_sums, interacting


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
    real, cell = setup.real, cell_of(setup.real)
    apart, interact, zero, one = separation(real), interacting(real, setup.noise), float64(0), real(1)

    @inline
    def forces(x, n, r, u, f, virial, ids, clock, last, before, count, fluid, seed, p, cells):
        step = clock[0]
        for i in range(x, x + n):
            first, second = thread_words(i, seed, step)
            # what belongs to i stays in registers: through memory, pair by pair, the loop takes three times as long
            number, xi, yi, zi = ids[i], r[i], r[count + i], r[2 * count + i]
            ui, vi, wi = u[i], u[count + i], u[2 * count + i]
            fx, fy, fz, share = zero, zero, zero, zero
            own = cell(xi, yi, zi, cells)
            for k in range(OWN_CELL, ALL_CELLS):
                j = before[i] if k == OWN_CELL else last[neighbour(own, k, cells)]
                while j >= 0:
                    dx, dy, dz, square = apart(xi, yi, zi, j, r, count, p)
                    if square < one and min(number, ids[j]) < fluid:
                        gx, gy, gz, more, first, second = interact(
                            dx, dy, dz, square, number, ui, vi, wi, j, u, ids, count, seed, step, p, first, second
                        )
                        fx, fy, fz, share = fx + gx, fy + gy, fz + gz, share + more
                        f[j] -= gx
                        f[count + j] -= gy
                        f[2 * count + j] -= gz
                    j = before[j]
            f[i] += fx
            f[count + i] += fy
            f[2 * count + i] += fz
            virial[i] += share

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays; raises InputError for more than one worker."""
    state, device, cells = setup.state, setup.device, setup.cells
    if device.name != "serial":
        raise InputError(f"'linked' builds its list particle after particle, on one core: not on '{device.name}'")
    last, before = device.zeros(cells.count, np.int32), device.zeros(state.count, np.int32)
    sums, clear, round_off = double_sums(setup)
    run = device.compile(Kernel(_body(setup), strict=True))(
        (state.count,),
        *(state.r, state.u, *sums, state.ids, state.clock, last, before),
        *(state.count, state.fluid, setup.seed, setup.numbers, cells.shape),
    )
    return Forces(
        {
            "unlink": device.compile(Kernel(_unlink))((cells.count,), last),
            "link": device.compile(Kernel(_link_body(setup.real)))(
                (state.count,), state.r, last, before, state.count, cells.shape
            ),
            "clear": clear,
            "forces": run,
            "round off": round_off,
        }
    )
