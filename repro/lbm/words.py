"""Two numbers in a word: of half precision in 32 bits, of single precision in 64."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from repro.parallel import device_function, from_bits, to_bits

from .storage import read_half, write_half


class Words(NamedTuple):
    """What is done with words."""

    #: (lower, upper) of a word, in single precision
    numbers: Callable
    #: the word of (lower, upper)
    word_of: Callable
    #: a word with its halves exchanged
    exchanged: Callable


@cache
def make_words(half: bool) -> Words:
    """The words of numbers that are kept in half precision, or else in single."""
    word, part = (np.uint32, np.uint16) if half else (np.uint64, np.uint32)
    read, write = (read_half, write_half) if half else (from_bits, to_bits)
    width = word(16 if half else 32)
    lowest = word((1 << int(width)) - 1)

    @device_function
    def numbers(bits):
        return read(part(word(bits) & lowest)), read(part(word(bits) >> width))

    @device_function
    def word_of(lower, upper):
        return word(word(write(lower)) | word(word(write(upper)) << width))

    @device_function
    def exchanged(bits):
        return word(word(word(bits) >> width) | word(word(bits) << width))

    return Words(numbers, word_of, exchanged)
