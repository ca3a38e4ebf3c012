"""Counter-based random numbers: the Tiny Encryption Algorithm, keyed by who asks for which number.

Every number is named by (stream, seed, step, lower id, higher id): whoever asks finds the same one, in any order, on
any device, and nothing is stored between steps (dpd paper, section 4.3, method two).
"""

from enum import IntEnum
from functools import cache
from math import sqrt

from numpy import uint32

from repro.errors import InputError
from repro.parallel import device_function, fma
from repro.parallel.elementary import half_turn_sine, logarithm
from repro.parallel.unroll import each, unrolled


class Stream(IntEnum):
    """The one register of random streams, of all methods: no two purposes share numbers."""

    PAIR = 1
    WALL = 2
    WALL_NORMAL = 3
    PAIR_AGAIN = 4
    #: electrons in air, and electrons of a source (pic); the rest of the word for collisions is the event
    COLLISION = 101
    SOURCE = 111


#: rounds of TEA in production: twice those that still leave a visible correlation between neighbouring pairs
ROUNDS = 8


_DELTA = uint32(0x9E3779B9)


@device_function
def tea_round(a, b, total, k0, k1, k2, k3):
    """One round of the Tiny Encryption Algorithm (Wheeler and Needham 1994) on two 32-bit words."""
    a = uint32(a + (uint32(uint32(b << uint32(4)) + k0) ^ uint32(b + total) ^ uint32(uint32(b >> uint32(5)) + k1)))
    b = uint32(b + (uint32(uint32(a << uint32(4)) + k2) ^ uint32(a + total) ^ uint32(uint32(a >> uint32(5)) + k3)))
    return a, b


@cache
def tea(rounds: int):
    """Two 32-bit words by `rounds` rounds of TEA: words(low, high, stream, seed, step)."""
    # written out: to count 32 rounds would take a GPU half as many instructions again
    totals = tuple(uint32(k * int(_DELTA) % 2**32) for k in range(1, rounds + 1))

    @unrolled
    def words(low, high, stream, seed, step):
        a, b = uint32(low), uint32(high)
        for total in each(totals):
            a, b = tea_round(a, b, total, uint32(seed), uint32(stream), uint32(step), _DELTA)
        return a, b

    return words


@cache
def uniform(real):
    """A number in (0, 1] of type `real` from a 32-bit word (dpd paper, equation 7, half up): unit(word)."""
    scale, half = real(2.0**-32), real(2.0**-33)

    @device_function
    def unit(word):
        return fma(real(word), scale, half)

    return unit


@cache
def normal(real):
    """Two independent Gaussian deviates by the Box-Muller transform: deviates(word, word)."""
    unit, sine, natural = uniform(real), half_turn_sine(real), logarithm(real)
    zero, half, one, two = real(0), real(0.5), real(1), real(2)

    @device_function
    def deviates(first, second):
        radius = sqrt(-two * natural(unit(first)))
        # cosine and sine of a turn u from the sine of half of it, u - 1/2 being the nearer way
        s = sine(unit(second) - half)
        return radius * fma(two * s, s, -one), -radius * two * s * sqrt(max(fma(-s, s, one), zero))

    return deviates


#: most particles: the last of three components of the last one lies at a place below 2^32
MOST_PARTICLES = 2**32 // 3


def require_ids(count: int) -> None:
    """Refuse more particles than 32-bit ids and places can name, before anything is allocated."""
    if count > MOST_PARTICLES:
        raise InputError(f"{count} particles: places of their components have 32 bits, so at most {MOST_PARTICLES}")
