"""Only pores are kept, in one array: the AA pattern on a sparse list, which the paper does not have.

Bailey, Myre, Walsh, Lilja, Saar, Proc. ICPP 2009, 550. Even steps collide what a pore has and put each population into
the place of its opposite, without the map; odd steps read what streams in, collide, and write each population to where
its opposite was read. Each place belongs to one pore in each step, so there is no second array and no race, and half
of the steps need no map. The list is kept as
runs (see `run_length_neighbour_list`), a fraction of the bytes of `sparse`.
"""

from functools import cache

from repro.errors import InputError
from repro.parallel import Kernel, device_function

from ...equilibrium import scratch_rows
from ...lattice import D3Q19, Lattice
from ...layout import unsigned
from ...strategies.scheme import Cost, Scheme
from ..neighbour_list import list_neighbours
from ..node import collision_of, kernel_options, macroscopic_kernel, make_load, make_observe, nowhere, update_kernel
from ..run_length_neighbour_list import MOST_BYTES, as_runs, source

COST = Cost(arrays=1, map=MOST_BYTES * (D3Q19.q - 1), map_at_most=True, finds=0.5, dense=False)


@cache
def _make_pull(lattice: Lattice):
    """The populations that stream into a run of pores, and where they were: pull(s, n, pore, places, runs, f)."""
    q = lattice.q

    @device_function
    def pull(s, n, pore, places, runs, f):
        # kept, because the compiler cannot know that writing populations leaves the list as it is
        for i in range(1, q):
            for k in range(n):
                places[i, k] = source(runs, i, pore + k)
        for k in range(n):
            s[0, k] = f[unsigned(pore + k)]
        for i in range(1, q):
            for k in range(n):
                s[i, k] = f[unsigned(places[i, k])]

    return pull


@cache
def _exchange_kernel(model, storage: str, dtype, block) -> Kernel:
    """The kernel (runs, f, rates, force) of odd steps: stream, collide, stream."""
    collide, pull, q = collision_of(model, storage, dtype), _make_pull(model.lattice), model.lattice.q

    @device_function
    def exchange(x, n, s, places, runs, f, rates, force):
        pull(s, n, x, places, runs, f)
        collide(s, n, rates, force)
        for k in range(n):
            f[unsigned(x + k)] = s[0, k]
        for i in range(1, q, 2):
            for k in range(n):
                f[unsigned(places[i + 1, k])] = s[i, k]
                f[unsigned(places[i, k])] = s[i + 1, k]

    return Kernel(exchange, rows=scratch_rows(model.lattice), index_rows=q, **kernel_options(storage, dtype, block))


@cache
def _arriving_kernel(lattice: Lattice, storage: str, dtype) -> Kernel:
    """The kernel (runs, f, fields, row, force) after even steps: of what streams in."""
    observe, pull = make_observe(lattice, storage, dtype, nowhere, collided=False), _make_pull(lattice)

    @device_function
    def arriving(x, n, s, places, runs, f, fields, row, force):
        pull(s, n, x, places, runs, f)
        observe(s, n, x, row, runs.words, fields, force)

    return Kernel(arriving, rows=scratch_rows(lattice), index_rows=lattice.q, dtype=dtype)


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to one array on the device; raises InputError for modified walls."""
    if problem.walls != "half-way":
        raise InputError(
            f"'sparse in place' takes half-way walls, not {problem.walls}: those read one place twice; choose 'sparse'"
        )
    pores = list_neighbours(problem, device, reverse=True)
    count, row, runs = pores.count, pores.row, as_runs(pores, device)
    cells = pores.cells
    # as long as it lives, the whole map takes as much memory as the populations
    del pores
    f, fields = device.zeros(problem.lattice.q * row, dtype), device.zeros(4 * row, dtype)
    _, rates, force, _ = problem.parameters(dtype)
    model, storage = problem.box.model, problem.storage
    load = make_load(problem.lattice)
    local = device.compile(update_kernel(model, storage, dtype, load, nowhere, reverse=True, block=block))
    exchange = device.compile(_exchange_kernel(model, storage, dtype, block))
    at_rest = device.compile(macroscopic_kernel(problem.lattice, storage, dtype, nowhere, collided=False))
    arriving = device.compile(_arriving_kernel(problem.lattice, storage, dtype))
    return Scheme(
        steps=(
            local((count,), runs.words, f, f, row, rates, force),
            exchange((count,), runs, f, rates, force),
        ),
        states=(f, f),
        collided=False,
        observe=(
            at_rest((count,), runs.words, f, fields, row, force),
            arriving((count,), runs, f, fields, row, force),
        ),
        fields=fields,
        kept=(runs.words, runs.distances),
        cells=cells,
    )
