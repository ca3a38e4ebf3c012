"""One thread per cell, the cells sorted by load so that the threads of a warp have the same (section 4.4, figure 5).

Load balancing by a counting sort of the cells by the number of their particles, fullest first.
"""

from functools import cache, partial

import numpy as np

from repro.parallel import device_function, zero
from repro.parallel.launch_sequence import in_turn
from repro.particles.cell_table import particles_in
from repro.particles.launch import launch_of
from repro.particles.scan import running_sum

from .cell import cell_body
from .setup import Forces, Setup, Traits
from .sums import table_forces

TRAITS = Traits(table=True, linear=True)


@cache
def _count_body(add):
    @device_function
    def classify(x, n, table, sizes, place):
        for c in range(x, x + n):
            place[c] = add(sizes, table.capacity - particles_in(table, c), 1)

    return classify


@device_function
def _place(x, n, table, starts, place, order):
    for c in range(x, x + n):
        order[starts[table.capacity - particles_in(table, c)] + place[c]] = c


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    device, capacity, cells = setup.device, setup.capacity, setup.cells.count
    counts = cells, cells, capacity + 1, capacity + 2
    order, place, sizes, starts = (device.zeros(count, np.int32) for count in counts)

    def sorting(lists):
        return {
            "clear the loads": launch_of(device, zero, capacity + 1, sizes),
            "count the loads": launch_of(device, _count_body(device.add), cells, lists.table, sizes, place),
            "scan the loads": partial(in_turn, *running_sum(device, sizes, starts)),
            "sort by load": launch_of(device, _place, cells, lists.table, starts, place, order),
        }

    return table_forces(setup, cell_body(setup.real, setup.pair, device.add), cells, extra=(order,), parts=sorting)
