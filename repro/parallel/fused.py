"""The fused multiply-add: one rounding, and so the same bits on every device.

A compiler for a GPU fuses a product and the sum it goes into, one for a CPU does not unless it is told to. In a kernel
that asks for `strict` arithmetic, formulas say themselves where they fuse.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic, overload


def fma(a, b, c):
    """a * b + c with one rounding; in a kernel all three have the same type."""
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
