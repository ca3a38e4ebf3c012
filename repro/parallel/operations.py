"""What processors can do and Python has no name for: in kernels, and in the generated loops of a CPU around them.

What several workers do to an array at once returns the value that was there before.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
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


def from_half(bits):
    """The number, in single precision, of which these are the 16 bits in half precision."""
    return np.float32(np.uint16(bits).view(np.float16))


@intrinsic
def _extended(typing_context, bits):
    def generate(context, builder, signature, arguments):
        return builder.fpext(builder.bitcast(arguments[0], ir.HalfType()), ir.FloatType())

    return types.float32(bits), generate


@overload(from_half)
def _compiled_from_half(bits):
    return (lambda bits: _extended(bits)) if bits == types.uint16 else None


def to_half(value):
    """The 16 bits of the nearest number in half precision; of a number beyond 65504 those of infinity."""
    with np.errstate(over="ignore"):
        return np.float16(value).view(np.uint16)


@intrinsic
def _truncated(typing_context, value):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(builder.fptrunc(arguments[0], ir.HalfType()), ir.IntType(16))

    return types.uint16(value), generate


@overload(to_half)
def _compiled_to_half(value):
    return (lambda value: _truncated(value)) if value == types.float32 else None


def from_bits(bits):
    """The number in single precision of which these are the 32 bits."""
    return np.uint32(bits).view(np.float32)


def to_bits(value):
    """The 32 bits of a number in single precision."""
    return np.float32(value).view(np.uint32)


def _reinterpreted(kind):
    """The bits of a number as those of another type of the same size."""

    @intrinsic
    def reinterpreted(typing_context, value):
        def generate(context, builder, signature, arguments):
            return builder.bitcast(arguments[0], context.get_value_type(kind))

        return kind(value), generate

    return reinterpreted


_as_number, _as_bits = _reinterpreted(types.float32), _reinterpreted(types.uint32)


@overload(from_bits)
def _compiled_from_bits(bits):
    return (lambda bits: _as_number(bits)) if bits == types.uint32 else None


@overload(to_bits)
def _compiled_to_bits(value):
    return (lambda value: _as_bits(value)) if value == types.float32 else None


def like(x, value):
    """A number in the type of `x`, or of the items of an array."""
    return np.asarray(x).dtype.type(value)


@overload(like)
def _compiled_like(x, value):
    return lambda x, value: type(x)(value)


def _locked(operation: str):
    """An operation of the processor on one element of an array, by LLVM's name of it for whole numbers."""

    @intrinsic
    def locked(typing_context, array, index, value):
        if not isinstance(array, types.Array) or array.ndim != 1:
            return None
        element = array.dtype

        def generate(context, builder, signature, arguments):
            values = context.make_array(array)(context, builder, arguments[0])
            place = [context.cast(builder, arguments[1], index, types.intp)]
            at = cgutils.get_item_pointer(context, builder, array, values, place)
            number = context.cast(builder, arguments[2], value, element)
            name = "fadd" if operation == "add" and isinstance(element, types.Float) else operation
            return builder.atomic_rmw(name, at, number, "monotonic")

        return element(array, index, value), generate

    return locked


#: array[index] += value, or = value, for the cores of a CPU
add_locked, exchange_locked = _locked("add"), _locked("xchg")


@device_function
def add_alone(array, index, value):
    """array[index] += value, for one worker."""
    before = array[index]
    array[index] = before + value
    return before


@device_function
def exchange_alone(array, index, value):
    """array[index] = value, for one worker."""
    before = array[index]
    array[index] = value
    return before


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
