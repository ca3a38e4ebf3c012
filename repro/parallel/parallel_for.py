"""A compiled loop on all cores, each its share: the loop is compiled once, for one core as for all.

numba's `prange` would compile the whole kernel anew, five times over, into the functions that it wraps around a
parallel loop; here the parallel loop only calls the kernel by its address.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def call_at(typing_context, address, arguments):
    """Call a function of numba's, compiled for exactly the types of the tuple `arguments`, by its address."""
    if not isinstance(arguments, types.BaseTuple):
        return None
    kinds = list(arguments.types)

    def generate(context, builder, signature, values):
        function = context.call_conv.get_function_type(types.none, kinds)
        place = builder.inttoptr(values[0], ir.PointerType(function))
        each = [builder.extract_value(values[1], k) for k in range(len(kinds))]
        context.call_conv.call_function(builder, place, types.none, kinds, each)
        return context.get_dummy_value()

    return types.none(address, arguments), generate
