"""How the populations lie in memory (porous paper, section 4.1(1))."""

from functools import cache

import numpy as np

from repro.parallel import device_function

from .lattice import Lattice

LAYOUTS = ("soa", "aos")

#: numbers in a line of a GPU's cache, in single precision
_LINE = 32


def row_length(count: int) -> int:
    """Length of a row of the arrays that hold something of `count` nodes: an odd number of whole cache lines.

    Whole lines, so that neighbouring threads find each row aligned; an odd number, so that the same place of all rows
    does not fall to one memory channel.
    """
    lines = -(-count // _LINE)
    return _LINE * (lines + 1 - lines % 2)


@cache
def make_layout(lattice: Lattice, name: str):
    """Where populations lie: (at, stride), the index at(i, node, size) and how far on that of the next node is.

    "soa", structure of arrays, f[i][node]: neighbouring threads touch neighbouring addresses; "aos", array of
    structures, f[node][i]: the populations of a node are together.
    """
    q = lattice.q
    if name == "soa":

        @device_function
        def at(i, node, size):
            return i * size + node

        return at, 1

    @device_function
    def at(i, node, size):
        return node * q + i

    return at, q


@device_function
def unsigned(index):
    """An index that numba does not test for being negative: three instructions fewer an access."""
    return np.uint64(index)
