"""What the strategies over the cell table share: the list, the cleared forces, and one kernel."""

from repro.parallel import Kernel
from repro.particles.cell_table import CellTable

from .setup import Forces, Setup
from .sums import clear_forces


def table_forces(setup: Setup, body, items: int, *, extra=(), parts=None, numbers=None) -> Forces:
    """A strategy over the cell table: empty it, fill it, clear the forces, then `body` with one item a thread.

    body(x, n, particles, sums, source, table, *extra, numbers, cells); `source` names the noise. `parts(table)` are
    launches between the table and the forces, by name; `numbers` stand in for the setup's numbers of a pair.
    """
    state, device = setup.state, setup.device
    table = CellTable(device, setup.cells, setup.capacity, setup.real)
    clear = device.compile(Kernel(clear_forces))((state.count,), state.sums, state.count)
    kernel = Kernel(body, dtype=setup.real, block=setup.block, registers=setup.registers, strict=True)
    run = device.compile(kernel)(
        (items,),
        *(state.particles, state.sums, setup.noise_state, table.table, *extra),
        *(setup.numbers if numbers is None else numbers, setup.cells.shape),
    )
    between = {} if parts is None else parts(table)
    return Forces(table.update(state.r, state.count) | between | {"clear": clear, "forces": run}, table.check)
