"""One thread per particle, with the constants of the pair force in six memory spaces (section 4.5.2).

The strategies take them as arguments of the kernel. The paper moves them from global memory to texture memory, which a
texture object fetches; the read-only path is the other way to that cache.
"""

from functools import partial
from operator import getitem

import numpy as np
from numba import cuda, float32, int32, uint64

from repro.dpd.strategies import particle_full
from repro.dpd.strategies.particle import half_body
from repro.dpd.strategies.setup import Forces, Setup
from repro.dpd.strategies.sums import same, table_forces
from repro.errors import require, require_one_of
from repro.parallel import device_function

STENCILS = ("half", "full")


def _literals(setup: Setup):
    numbers = setup.numbers

    @device_function
    def known(q):
        return numbers

    return 0, known


def _global_memory(setup: Setup):
    # the array is loaded where a constant is needed, and again after other threads may have written to it
    return setup.device.to_device(np.array(setup.numbers)), same


def _constant_memory(setup: Setup):
    values = np.array(setup.numbers)
    read = _each(len(values), getitem)

    # numba knows the contents of such an array: with constant indices it would turn them into literals
    def chosen(q):
        return read(cuda.const.array_like(values), q)

    return 0, cuda.jit(device=True)(chosen) if setup.device.simulated else device_function(chosen)


def _fetched(setup: Setup, instruction: str, handle_of):
    """Numbers that an instruction of a GPU loads by a handle of their array ($1) and a place in it ($2).

    handle_of(array) gives the handle, and what must live as long as it.
    """
    if setup.device.simulated:
        return _global_memory(setup)
    require(setup.real is np.float32, "these loads are of numbers in single precision")
    # the simulator has no such modules
    from llvmlite import ir
    from numba.cuda.extending import intrinsic

    @intrinsic
    def load(typing_context, handle, place):
        def generate(context, builder, signature, arguments):
            function = ir.FunctionType(ir.FloatType(), [ir.IntType(64), ir.IntType(32)])
            return builder.asm(function, instruction, "=f,l,r", arguments, False)

        return float32(uint64, int32), generate

    read = _each(len(setup.numbers), load)
    fetched = device_function(lambda q: read(q, 0))
    handle, fetched.alive = handle_of(setup.device.to_device(np.array(setup.numbers)))
    return np.uint64(handle), fetched


def _texture_object(array):
    from cupy.cuda import runtime, texture

    number = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    linear = {"arr": array, "chDesc": number, "sizeInBytes": array.nbytes}
    memory = texture.ResourceDescriptor(runtime.cudaResourceTypeLinear, **linear)
    made = texture.TextureObject(memory, texture.TextureDescriptor())
    return made.ptr, made


def _each(count: int, load):
    """So many numbers of an array from a place on, as a tuple: read(array, place)."""
    if count == 1:
        return device_function(lambda array, place: (load(array, place),))
    others, last = _each(count - 1, load), count - 1
    return device_function(lambda array, place: others(array, place) + (load(array, place + last),))  # noqa: RUF005


#: through the read-only cache, which asserts that no thread writes to the array
READ_ONLY = "{ .reg .b64 place; mad.wide.s32 place, $2, 4, $1; ld.global.nc.f32 $0, [place]; }"
TEXTURE = "{ .reg .f32 y, z, w; tex.1d.v4.f32.s32 {$0, y, z, w}, [$1, {$2}]; }"

#: by name: a function from the setup to the kernel's argument, and the function that reads the constants from it
PLACES = {
    "arguments": lambda setup: (setup.numbers, same),
    "literals": _literals,
    "global memory": _global_memory,
    "constant memory": _constant_memory,
    "read-only path": partial(_fetched, instruction=READ_ONLY, handle_of=lambda array: (array.data.ptr, array)),
    "texture object": partial(_fetched, instruction=TEXTURE, handle_of=_texture_object),
}


def places_on(device) -> list[str]:
    """The memory spaces for constants that a device has."""
    return list(PLACES) if device.name == "cuda" else ["arguments", "literals", "global memory"]


def build(setup: Setup, place: str = "arguments", stencil: str = "full") -> Forces:
    """Bind the kernels with the constants in `place`; raises InputError for a place that the device does not have."""
    require_one_of("stencil", stencil, STENCILS)
    there = places_on(setup.device)
    require(place in there, f"no '{place}' on {setup.device.name}: choose one of {', '.join(there)}")
    numbers, constants = PLACES[place](setup)
    if stencil == "half":
        body = half_body(setup.real, setup.pair, setup.device.add, constants)
    else:
        particle_full.TRAITS.require(setup, "particle, full stencil")
        body = particle_full.full_body(setup.real, setup.pair, constants)
    return table_forces(setup, body, setup.state.count, numbers=numbers)
