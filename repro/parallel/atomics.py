"""What several workers do to an array at once: each operation returns the value that was there before it."""

from functools import cache

from numba import cuda, types
from numba.core import cgutils
from numba.extending import intrinsic

from .jit import device_function


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


def add_on_gpu(array, index, value):
    """array[index] += value, for the threads of a GPU."""
    return cuda.atomic.add(array, index, value)


@device_function
def exchange_alone(array, index, value):
    """array[index] = value, for one worker."""
    before = array[index]
    array[index] = value
    return before


def exchange_on_gpu(array, index, value):
    """array[index] = value, for the threads of a GPU."""
    return cuda.atomic.exch(array, index, value)


@cache
def make_exchange(device):
    """The exchange(array, index, value) that goes with the `add` of a device."""
    alike = {add_alone: exchange_alone, add_locked: exchange_locked}
    if device.add in alike:
        return alike[device.add]
    return cuda.jit(device=True)(exchange_on_gpu) if device.simulated else device_function(exchange_on_gpu)
