"""One thread per particle, with the constants of the pair force in five memory spaces (section 4.5.2).

The strategies "particle" (half stencil) and "particle, full stencil" take them as arguments of the kernel. The others
are here for comparison: the paper moves them from global memory to texture memory, which loads through the read-only
path have replaced on today's GPUs.
"""

from operator import getitem

import numpy as np
from numba import cuda

from repro.dpd.strategies import particle_full
from repro.dpd.strategies.particle import half_body
from repro.dpd.strategies.setup import Forces, Setup
from repro.dpd.strategies.sums import table_forces
from repro.errors import InputError
from repro.parallel import device_function

STENCILS = ("half", "full")


def _arguments(setup: Setup):
    return setup.numbers, particle_full.same


def _literals(setup: Setup):
    numbers = setup.numbers

    @device_function
    def known(q):
        return numbers

    return 0, known


def _global_memory(setup: Setup):
    # the array is loaded where a constant is needed, and again after other threads may have written to it
    return _array(setup), particle_full.same


def _constant_memory(setup: Setup):
    values = np.array(setup.numbers)

    read = _each(len(values), getitem)

    # numba knows the contents of such an array: with constant indices it would turn them into literals
    def chosen(q):
        return read(cuda.const.array_like(values), q)

    return 0, cuda.jit(device=True)(chosen) if setup.device.simulated else device_function(chosen)


def _read_only(setup: Setup):
    if setup.device.simulated:
        return _global_memory(setup)
    read = _each(len(setup.numbers), _read_only_load())

    @device_function
    def loaded(q):
        return read(q, 0)

    return _array(setup), loaded


def _each(count: int, load):
    """So many numbers of an array from a place on, as a tuple: read(array, place)."""
    if count == 1:
        return device_function(lambda array, place: (load(array, place),))
    others, last = _each(count - 1, load), count - 1
    return device_function(lambda array, place: others(array, place) + (load(array, place + last),))  # noqa: RUF005


def _array(setup: Setup):
    return setup.device.to_device(np.array(setup.numbers))


def _read_only_load():
    """A load through the read-only cache, which asserts that no thread writes to it: load(array, index)."""
    # the simulator has no such module
    from llvmlite import ir
    from numba.cuda import cgutils
    from numba.cuda.extending import intrinsic

    @intrinsic
    def load(typing_context, array, index):
        def generate(context, builder, signature, arguments):
            struct = context.make_array(array)(context, builder, arguments[0])
            place = [context.cast(builder, arguments[1], index, index)]
            pointer = cgutils.get_item_pointer(context, builder, array, struct, place)
            address, number = ir.IntType(64), context.get_data_type(array.dtype)
            kind, register = (("f32", "f"), ("f64", "d"))[array.dtype.bitwidth == 64]
            text = f"ld.global.nc.{kind} $0, [$1];"
            function = ir.FunctionType(number, [address])
            return builder.asm(function, text, f"={register},l", [builder.ptrtoint(pointer, address)], False)

        return array.dtype(array, index), generate

    return load


#: by name: a function from the setup to the kernel's argument, and the function that reads the constants from it
PLACES = {
    "arguments": _arguments,
    "literals": _literals,
    "global memory": _global_memory,
    "constant memory": _constant_memory,
    "read-only path": _read_only,
}


def places_on(device) -> list[str]:
    """The memory spaces for constants that a device has."""
    return list(PLACES) if device.name == "cuda" else ["arguments", "literals", "global memory"]


def build(setup: Setup, place: str = "arguments", stencil: str = "full") -> Forces:
    """Bind the kernels with the constants in `place`; raises InputError for a place that the device does not have."""
    if stencil not in STENCILS:
        raise InputError(f"unknown stencil '{stencil}': choose one of {', '.join(STENCILS)}")
    if place not in places_on(setup.device):
        raise InputError(f"no '{place}' on {setup.device.name}: choose one of {', '.join(places_on(setup.device))}")
    if stencil == "full":
        particle_full.TRAITS.require(setup, "particle, full stencil")
    numbers, constants = PLACES[place](setup)
    body = (
        particle_full.full_body(setup.real, setup.pair, constants)
        if stencil == "full"
        else _half_with(setup, constants)
    )
    return table_forces(setup, body, setup.state.count, numbers=numbers)


def _half_with(setup: Setup, constants):
    half = half_body(setup.real, setup.pair, setup.device.add)

    @device_function
    def forces(x, n, particles, sums, source, table, q, cells):
        half(x, n, particles, sums, source, table, constants(q), cells)

    return forces
