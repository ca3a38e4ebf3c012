"""A thread a particle over the cell table, each pair once with atomic additions for the reaction (section 4.2)."""

from repro.parallel import Kernel, inline

from ..cells import ALL_CELLS, OWN_CELL, cell_of, neighbour
from ..random import thread_words
from ..table import CellTable
from .setup import Forces, Setup, adding, clear_forces


def half_body(setup: Setup):
    """A thread's particle meets the later ones of its own cell, and those of thirteen neighbouring cells."""
    both, cell = adding(setup.real, setup.noise, setup.device.add), cell_of(setup.real)
    capacity = setup.capacity

    @inline
    def forces(x, n, r, u, f, virial, ids, clock, counts, table, count, fluid, seed, p, cells):
        step, total = clock[0], cells[0] * cells[1] * cells[2]
        for i in range(x, x + n):
            first, second = thread_words(i, seed, step)
            own = cell(r[i], r[count + i], r[2 * count + i], cells)
            for k in range(OWN_CELL, ALL_CELLS):
                c = neighbour(own, k, cells)
                for slot in range(min(counts[c], capacity)):
                    j = table[slot * total + c]
                    if k > OWN_CELL or j > i:
                        first, second = both(i, j, f, virial, r, u, ids, count, fluid, seed, step, p, first, second)

    return forces


def table_forces(setup: Setup, body, items: int, *, extra=(), parts=None) -> Forces:
    """A strategy over the cell table: empty it, fill it, clear the forces, then `body` with one item a thread."""
    state, device = setup.state, setup.device
    lists = CellTable(device, setup.cells, setup.capacity, setup.real)
    clear = device.compile(Kernel(clear_forces))((state.count,), state.f, state.virial, state.count)
    kernel = Kernel(body, dtype=setup.real, block=setup.block, registers=setup.registers, strict=True)
    run = device.compile(kernel)(
        (items,),
        *(state.r, state.u, state.f, state.virial, state.ids, state.clock, lists.counts, lists.table, *extra),
        *(state.count, state.fluid, setup.seed, setup.numbers, setup.cells.shape),
    )
    between = {} if parts is None else parts(lists)
    return Forces(lists.update(state.r, state.count) | between | {"clear": clear, "forces": run}, lists.check)


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    return table_forces(setup, half_body(setup), setup.state.count)
