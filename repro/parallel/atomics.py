"""Additions to an array that several workers make at once: each returns the value before it."""

from numba import cuda, types
from numba.core import cgutils
from numba.extending import intrinsic

from .jit import inline


@intrinsic
def _locked_add(typing_context, array, index, value):
    """array[index] += value as one operation of the processor."""
    if not isinstance(array, types.Array) or array.ndim != 1:
        return None
    element = array.dtype

    def generate(context, builder, signature, arguments):
        at = cgutils.get_item_pointer(
            context,
            builder,
            array,
            context.make_array(array)(context, builder, arguments[0]),
            [context.cast(builder, arguments[1], index, types.intp)],
        )
        number = context.cast(builder, arguments[2], value, element)
        kind = "fadd" if isinstance(element, types.Float) else "add"
        return builder.atomic_rmw(kind, at, number, "monotonic")

    return element(array, index, value), generate


@inline
def add_alone(array, index, value):
    """For one worker."""
    before = array[index]
    array[index] = before + value
    return before


@inline
def add_locked(array, index, value):
    """For the cores of a CPU."""
    return _locked_add(array, index, value)


def add_on_gpu(array, index, value):
    """For the threads of a GPU."""
    return cuda.atomic.add(array, index, value)
