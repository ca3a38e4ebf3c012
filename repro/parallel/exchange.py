"""Putting a value into an array where others do so at once: each gets the value before its own."""

from functools import cache

from numba import cuda, types
from numba.core import cgutils
from numba.extending import intrinsic

from .atomics import add_alone, add_locked
from .jit import inline


@intrinsic
def _locked_exchange(typing_context, array, index, value):
    """array[index] = value as one operation of the processor."""
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
        return builder.atomic_rmw("xchg", at, number, "monotonic")

    return element(array, index, value), generate


@inline
def exchange_alone(array, index, value):
    """For one worker."""
    before = array[index]
    array[index] = value
    return before


@inline
def exchange_locked(array, index, value):
    """For the cores of a CPU."""
    return _locked_exchange(array, index, value)


def exchange_on_gpu(array, index, value):
    """For the threads of a GPU."""
    return cuda.atomic.exch(array, index, value)


@cache
def exchange_of(device):
    """Returns exchange(array, index, value) for the kernels of a device; it goes with the device's `add`."""
    if device.add is add_alone:
        return exchange_alone
    if device.add is add_locked:
        return exchange_locked
    return cuda.jit(device=True)(exchange_on_gpu) if device.simulated else inline(exchange_on_gpu)
