"""Which of 32 particles that lie one after the other are near, as the bits of a word."""

from functools import cache

from numpy import uint32, uint64

from repro.parallel import device_function, ones

#: candidates that a word has bits for
WORD = 32


@cache
def make_near_bits(near):
    """The bits of the near ones among at most 32 particles: bits(first, end, *arguments), by near(j, *arguments).

    Places have 64 bits, in which the compiler finds the next candidate by an address of its own; counted in 32, or by
    `range`, each would take a GPU nearly twice the instructions.
    """

    @device_function
    def bits(first, end, *arguments):
        word, bit, j = uint32(0), uint32(1), uint64(first)
        while j < uint64(end):
            word = uint32(word | (bit if near(j, *arguments) else uint32(0)))
            bit, j = uint32(bit << uint32(1)), uint64(j + uint64(1))
        return word

    return bits


@device_function
def lowest(word):
    """The number of a word's lowest bit, and the word without it."""
    less = uint32(word - uint32(1))
    return uint32(ones(uint32(~word & less))), uint32(word & less)
