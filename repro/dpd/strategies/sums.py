"""Forces summed over pairs: cleared, summed in double precision where nothing may tell of an order, or over a table."""

from numpy import float64

from repro.parallel import device_function
from repro.particles.cell_table import CellTable
from repro.particles.launch import launch_of

from ..state import Sums
from .setup import Forces, Setup


@device_function
def _clear(x, n, sums, count):
    for i in range(x, x + n):
        sums.virial[i] = 0
        for k in range(3):
            sums.f[i + k * count] = 0


@device_function
def _round_off(x, n, sums, rounded, count):
    for i in range(x, x + n):
        rounded.virial[i] = sums.virial[i]
        for k in range(3):
            rounded.f[i + k * count] = sums.f[i + k * count]


@device_function
def same(p):
    """The numbers of a pair as the kernel got them."""
    return p


def clear_sums(setup: Setup, sums: Sums):
    """The launch that sets sums of forces and of virials to zero."""
    return launch_of(setup.device, _clear, setup.state.count, sums, setup.state.count)


def double_sums(setup: Setup):
    """Arrays for sums of forces and of virials, the launch that clears them and the one that rounds them off.

    Summed in double precision, numbers in single precision leave no trace of their order, so that strategies and
    devices follow one trajectory, bit for bit.
    """
    state, device, count = setup.state, setup.device, setup.state.count
    sums = Sums(device.zeros(3 * count, float64), device.zeros(count, float64))
    return sums, clear_sums(setup, sums), launch_of(device, _round_off, count, sums, state.sums, count)


def table_forces(setup: Setup, body, items: int, *, extra=(), parts=lambda _: {}, numbers=None) -> Forces:
    """A strategy over the cell table: empty it, fill it, clear the forces, then `body` with one item a thread.

    body(x, n, particles, sums, source, table, *extra, numbers, cells); `source` names the noise. `parts(table)` are
    launches between the table and the forces, by name; `numbers` stand in for the setup's numbers of a pair.
    """
    state, device = setup.state, setup.device
    table = CellTable(device, setup.cells, setup.capacity, setup.real)
    options = {"dtype": setup.real, "block": setup.block, "registers": setup.registers, "strict": True}
    arguments = state.particles, state.sums, setup.noise_state, table.table, *extra
    pairs = setup.numbers if numbers is None else numbers, setup.cells.shape
    run = launch_of(device, body, items, *arguments, *pairs, **options)
    after = {"clear": clear_sums(setup, state.sums), "forces": run}
    return Forces(table.update(state.r, state.count) | parts(table) | after, table.check)
