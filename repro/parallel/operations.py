"""Operations of every processor for which Python has no name, for kernels on all devices."""

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from .jit import device_function


@device_function
def zero(x, n, values):
    """A kernel's body: set values to zero."""
    for k in range(x, x + n):
        values[k] = 0


def fma(a, b, c):
    """a * b + c with one rounding; in a kernel all three have the same type.

    A compiler for a GPU fuses a product and the sum it goes into, one for a CPU does not unless it is told to. In a
    kernel that asks for `strict` arithmetic, formulas say themselves where they fuse, and all devices round alike.
    """
    if any(isinstance(value, np.float32) for value in (a, b, c)):
        # in plain Python, as in the CUDA simulator: a product of two single numbers is exact in double precision
        return np.float32(float(a) * float(b) + float(c))
    return a * b + c


@intrinsic
def _fused(typing_context, a, b, c):
    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return a(a, b, c), generate


@overload(fma)
def _compiled_fma(a, b, c):
    if isinstance(a, types.Float) and a == b == c:
        return lambda a, b, c: _fused(a, b, c)
    return None


def ones(word):
    """How many of the 32 bits of an unsigned word are set."""
    return np.int32(int(word).bit_count())


@intrinsic
def _population(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int32(word), generate


@overload(ones)
def _compiled_ones(word):
    return (lambda word: _population(word)) if word == types.uint32 else None
