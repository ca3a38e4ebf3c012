"""What the generated loops of a CPU need beside Python: scratch memory on the stack, and calls by address."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic(prefer_literal=True)
def stack_array(typing_context, count, dtype):
    """Pointer to `count` (a compile-time constant) numbers of type `dtype`, alive as long as the calling loop.

    No heap, no reference count, and it vanishes into registers.
    """
    if not isinstance(count, types.IntegerLiteral):
        return None
    element, number = dtype.dtype, count.literal_value

    def generate(context, builder, signature, arguments):
        size = ir.Constant(ir.IntType(64), number)
        return cgutils.alloca_once(builder, context.get_data_type(element), size=size)

    return types.CPointer(element)(count, dtype), generate


@intrinsic
def call_at(typing_context, address, arguments):
    """Call a function of numba's, compiled for exactly the types of the tuple `arguments`, by its address.

    numba's `prange` would compile the whole kernel anew, five times over, into the functions that it wraps around a
    parallel loop; a loop that only calls the kernel lets it be compiled once, for one core as for all.
    """
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
