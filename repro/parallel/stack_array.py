"""Scratch memory on the stack of a compiled CPU loop: no heap, no reference count, and vanishing into registers."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic(prefer_literal=True)
def stack_array(typing_context, count, dtype):
    """Pointer to `count` (a compile-time constant) numbers of type `dtype`, alive as long as the calling loop."""
    if not isinstance(count, types.IntegerLiteral):
        return None
    element, number = dtype.dtype, count.literal_value

    def generate(context, builder, signature, arguments):
        size = ir.Constant(ir.IntType(64), number)
        return cgutils.alloca_once(builder, context.get_data_type(element), size=size)

    return types.CPointer(element)(count, dtype), generate
