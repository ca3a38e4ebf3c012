"""One thread per particle over sorted particles: the fast way on a GPU. Not in the paper.

The 27 cells around a particle are nine rows of particles (and short ones over the periodic edge). A thread first
finds its neighbours within the cutoff radius, as bits of words in shared memory, and then computes the forces: only
one candidate in six is one, and by warp divergence a force computed at every candidate would take six times as long.

Few particles leave most of a GPU idle: then nine threads share a particle, a row each, and a second kernel adds up
what they found. In double precision that would be another order of sums, so there a thread has a particle always.

The force on a frozen particle is left at zero, since nothing reads it; the other strategies find it, the half stencils
as a reaction. So this strategy has less work by the share of frozen particles, which speeds count as updated.
"""

from functools import cache

import numpy as np
from numpy import float64, uint32, uint64

from repro.parallel import device_function
from repro.particles.candidates import WORD, lowest, make_near_bits
from repro.particles.launch import launch_of
from repro.particles.sorted_cells import Neighbours

from ..pair import Pair, make_force, make_separation
from .setup import Forces, Setup, Traits

#: words of neighbours that a thread collects before it computes their forces, each with the place of its first bit
WORDS = 16

#: rows of cells around a particle, and numbers that are summed over its neighbours: the force and r . F
ROWS, NUMBERS = 9, 4

#: moving particles below which threads of a GPU share the rows of one, see docs/performance.md
FEW = 30_000

#: most registers of the force kernel in single precision, where none are asked for: a few per cent faster than without
REGISTERS = {np.float32: 64}

TRAITS = Traits(both_sides=True, shared_words=2 * WORDS, repeats=("serial", "threads", "cuda"), ranks=True)


@device_function
def store_whole(sums, i, row, count, found):
    """Round off what a thread has found of all of a particle's rows; the pairs' r . F are shared with the others."""
    f = sums.f
    f[i], f[count + i], f[2 * count + i], sums.virial[i] = found[0], found[1], found[2], float64(0.5) * found[3]


@device_function
def store_row(table, i, row, count, found):
    """Put down what a thread has found of one row, into NUMBERS numbers a row and particle."""
    for k in range(NUMBERS):
        table[(row * NUMBERS + k) * count + i] = found[k]


@device_function
def add_rows(x, n, table, sums, count):
    """Each item adds up the rows of a particle."""
    zero = float64(0)
    for i in range(x, x + n):
        fx, fy, fz, share = zero, zero, zero, zero
        for row in range(ROWS):
            place = row * NUMBERS * count + i
            fx, fy, fz = fx + table[place], fy + table[place + count], fz + table[place + 2 * count]
            share += table[place + 3 * count]
        store_whole(sums, i, 0, count, (fx, fy, fz, share))


@cache
def _make_near(real):
    """Whether particle j is within the cutoff radius of a point: near(j, x, y, z, particles, p)."""
    separation, one = make_separation(real, uint64), real(1)
    return device_function(lambda j, x, y, z, particles, p: separation(x, y, z, j, particles, p)[3] < one)


@cache
def sorted_body(real, block: int, pair: Pair, neighbours: Neighbours, store, rows: int):
    """A thread's particle, and its `rows`: collect the neighbours, and compute the forces, which `store` puts down.

    The same body again for the same choices, so that a GPU compiles it once in a process.
    """
    separation, force, (place, pieces_around, row_around) = pair.separation, make_force(real, pair), neighbours
    near_bits = make_near_bits(_make_near(real))
    zero, threads = float64(0), ROWS // rows

    @device_function
    def forces(x, n, t, particles, starts, sums, source, p, cells):
        r, _, u, ids, count, moving = particles
        key = source.seed, source.clock[0]
        for item in range(x, x + n):
            lane, i, piece = uint32(item % block), uint32(item % count), item // count
            number = ids[i]
            xi, yi, zi = r[i], r[uint32(count + i)], r[uint32(2 * count + i)]
            velocity = u[i], u[uint32(count + i)], u[uint32(2 * count + i)]
            at = place(xi, yi, zi, cells)
            row, pieces = piece, pieces_around(at, cells)
            piece = piece if number < moving else pieces
            fx, fy, fz, share = zero, zero, zero, zero
            j, end = uint32(0), uint32(0)
            while j < end or piece < pieces:
                entries = uint32(0)
                # row by row, so that the threads of a warp look for the next one together
                while entries < WORDS and (j < end or piece < pieces):
                    if j == end:
                        j, end = row_around(piece, at, starts, cells)
                        piece += threads
                    first, j = j, min(uint32(j + uint32(WORD)), end)
                    word = near_bits(first, j, xi, yi, zi, particles, p)
                    # without the particle itself
                    word = uint32(word & ~uint32(uint32(1) << uint32(i - first))) if first <= i < j else word
                    if word != uint32(0):
                        t[2 * entries, lane], t[2 * entries + 1, lane] = first, word
                        entries = uint32(entries + uint32(1))
                entry, first, word = uint32(0), uint32(0), uint32(0)
                while word != uint32(0) or entry < entries:
                    if word == uint32(0):
                        first, word = t[2 * entry, lane], t[2 * entry + 1, lane]
                        entry = uint32(entry + uint32(1))
                    bit, word = lowest(word)
                    m = uint32(first + bit)
                    distance = separation(xi, yi, zi, m, particles, p)
                    (gx, gy, gz, more), _ = force(distance, number, velocity, m, particles, key, p, (0, 0))
                    fx, fy, fz, share = fx + gx, fy + gy, fz + gz, share + more
            store(sums, i, row, count, (fx, fy, fz, share))

    return forces


def build(setup: Setup) -> Forces:
    """Bind the strategy's kernels to the setup's arrays."""
    state, device, real, share = setup.state, setup.device, setup.real, setup.share
    ordered, sorting = share.ordered(device, state, real)
    particles = state.particles._replace(r=ordered.r, v=ordered.v, u=ordered.u, ids=ordered.ids)
    registers = setup.registers or REGISTERS.get(real)
    options = {"shared_rows": 2 * WORDS, "block": setup.block, "registers": registers, "strict": True}
    # all ranks decide alike, by what is theirs together
    shared = device.name == "cuda" and real is np.float32 and state.moving < FEW
    rows, store = (1, store_row) if shared else (ROWS, store_whole)
    sums = device.zeros(ROWS * NUMBERS * state.count, np.float64) if shared else state.sums
    body = sorted_body(real, setup.block, setup.pair, share.neighbours(real), store, rows)
    arguments = particles, ordered.starts, sums, setup.noise_state, setup.numbers, share.numbers
    run = launch_of(device, body, ROWS // rows * state.count, *arguments, dtype=np.uint32, **options)
    total = {"add up": launch_of(device, add_rows, state.count, sums, state.sums, state.count)} if shared else {}
    return Forces(sorting | {"forces": run} | total | {"hand back": ordered.hand_back()})
