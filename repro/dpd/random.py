"""Random numbers on many threads: TEA, keyed by who asks, and the paper's pair of linear congruential generators.

Every number that TEA gives is named by (stream, seed, step, lower id, higher id): both particles of a pair find the
same one, in any order, on any device, and nothing is stored between steps (section 4.3, method two). The linear
generators (method one, equations 6 to 8) keep a state in each thread.
"""

from enum import IntEnum
from math import factorial, log, pi, sqrt

import numpy as np
from numpy import uint32

from repro.parallel import InputError, fma, inline


class Stream(IntEnum):
    """The register of random streams: no two purposes share numbers."""

    PAIR = 1
    WALL = 2
    WALL_NORMAL = 3


#: rounds of TEA in production: twice those that still leave a visible correlation between neighbouring pairs
ROUNDS = 8

#: rounds in the paper
PAPER_ROUNDS = 32

_DELTA = uint32(0x9E3779B9)

#: the paper's linear generator (its reference 25): modulus 2^32, factor and increment
LCG_FACTOR, LCG_INCREMENT = uint32(69069), uint32(1234567)


@inline
def tea_round(a, b, total, k0, k1, k2, k3):
    """One round of the Tiny Encryption Algorithm (Wheeler and Needham 1994) on two 32-bit words."""
    a = uint32(a + (uint32(uint32(b << uint32(4)) + k0) ^ uint32(b + total) ^ uint32(uint32(b >> uint32(5)) + k1)))
    b = uint32(b + (uint32(uint32(a << uint32(4)) + k2) ^ uint32(a + total) ^ uint32(uint32(a >> uint32(5)) + k3)))
    return a, b


def tea(rounds: int):
    """Returns words(low, high, stream, seed, step): two 32-bit words by `rounds` rounds of TEA."""

    @inline
    def words(low, high, stream, seed, step):
        a, b, total = uint32(low), uint32(high), uint32(0)
        for _ in range(rounds):
            total = uint32(total + _DELTA)
            a, b = tea_round(a, b, total, uint32(seed), uint32(stream), uint32(step), _DELTA)
        return a, b

    return words


@inline
def lcg(word):
    """The next word of the linear congruential generator (equation 6)."""
    return uint32(uint32(word * LCG_FACTOR) + LCG_INCREMENT)


def uniform(real):
    """Returns unit(word): a number in (0, 1] of type `real` from a 32-bit word (equation 7, half a step up)."""
    scale, half = real(2.0**-32), real(2.0**-33)

    @inline
    def unit(word):
        return fma(real(word), scale, half)

    return unit


def half_turn_sine(real):
    """Returns sine(f) = sin(pi f) for f from -1/2 to 1/2, to rounding, by its series.

    The libraries' functions take any angle, for which a GPU keeps a slow way and the memory it needs, and they round
    as they like; with a series all devices compute the same bits.
    """
    terms = 6 if real is np.float32 else 12
    series = tuple(real((-1) ** k * pi ** (2 * k + 1) / factorial(2 * k + 1)) for k in reversed(range(terms)))

    @inline
    def sine(f):
        square, total = f * f, series[0]
        for coefficient in series[1:]:
            total = fma(total, square, coefficient)
        return total * f

    return sine


def logarithm(real):
    """Returns logarithm(u) = ln u for a normal number u > 0, to rounding, by a series like the sine's.

    u = 2^k m with m from sqrt(1/2) to sqrt(2), and ln m = 2 artanh((m - 1) / (m + 1)).
    """
    whole, digits, terms = (np.int32, 23, 5) if real is np.float32 else (np.int64, 52, 11)
    series = tuple(real(2 / (2 * k + 1)) for k in reversed(range(terms)))
    root, one, ln2 = int(real(sqrt(0.5)).view(whole)), real(1), real(log(2))

    @inline
    def natural(u):
        bits = real(u).view(whole)
        power = (bits - root) >> digits
        m = whole(bits - (power << digits)).view(real)
        s = (m - one) / (m + one)
        square, total = s * s, series[0]
        for coefficient in series[1:]:
            total = fma(total, square, coefficient)
        return fma(real(power), ln2, total * s)

    return natural


def normal(real):
    """Returns deviates(word, word): two independent normal deviates by Box and Muller's transformation."""
    unit, sine, natural = uniform(real), half_turn_sine(real), logarithm(real)
    zero, half, one, two = real(0), real(0.5), real(1), real(2)

    @inline
    def deviates(first, second):
        radius = sqrt(-two * natural(unit(first)))
        # cosine and sine of a turn u from the sine of half of it, u - 1/2 being the nearer way
        s = sine(unit(second) - half)
        return radius * fma(two * s, s, -one), -radius * two * s * sqrt(max(fma(-s, s, one), zero))

    return deviates


def pair_noise(real, rounds: int = ROUNDS):
    """Method two: returns noise(id, id, seed, step, one, two), a normal deviate, the same for both orders of a pair.

    It leaves the thread's two words alone and returns them after the deviate.
    """
    words, deviates = tea(rounds), normal(real)

    @inline
    def noise(first, second, seed, step, one, two):
        a, b = words(min(first, second), max(first, second), Stream.PAIR.value, seed, step)
        return deviates(a, b)[0], one, two

    return noise


def thread_noise(real):
    """Method one, with the same signature: a deviate from the thread's two words, for any pair, and the next two."""
    deviates = normal(real)

    @inline
    def noise(first, second, seed, step, one, two):
        one, two = lcg(one), lcg(two)
        return deviates(one, two)[0], one, two

    return noise


@inline
def thread_words(thread, seed, step):
    """The two words with which a thread begins a step in method one, from its number and the step."""
    return lcg(uint32(thread + seed)), lcg(uint32(thread + seed + step))


def require_ids(count: int) -> None:
    """Refuse more particles than 32-bit ids can name, before anything is allocated."""
    if count > np.iinfo(np.int32).max:
        raise InputError(f"{count} particles: ids have 31 bits, so at most {np.iinfo(np.int32).max}")
