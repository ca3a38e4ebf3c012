"""Electrons that a uniform source adds: where, when and where to is drawn from their own numbers.

A particle's number is counted through all steps, and its random numbers are named by it, so that the same electrons
come however the box is divided.
"""

from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy import uint32

from repro.parallel import Kernel, device_function, fma
from repro.parallel.elementary import half_turn_sine
from repro.particles.random import ROUNDS, Stream, tea, uniform

from .advance import MeshContext, kicked, set_place
from .deposition import make_deposit_charge
from .gather import electric_at
from .maxwell.fields import FieldArrays
from .state import FRESH, Particles

#: the stream of the source's random numbers
SOURCE_STREAM = int(Stream.SOURCE)


class SourceTarget(NamedTuple):
    """Where particles of a source go: entries of `particles` from used[0] on, in the `fields` there."""

    device: object
    particles: Particles
    used: np.ndarray
    fields: FieldArrays
    context: MeshContext


class SourceNumbers(NamedTuple):
    """What a source's kernel needs to know."""

    #: particles in use, and steps that were taken
    used: np.ndarray
    steps: np.ndarray
    #: particles at the start and in each step, and given ones, whose numbers come first
    start: int
    per_step: int
    others: int
    seed: int
    momentum: float
    weight: float
    #: this box's first cell along the axes in what the source fills, and the cells that it fills
    first: tuple
    whole: tuple


@cache
def make_direction(real):
    """A unit vector, every one as likely as another: direction(word, word)."""
    unit, sine = uniform(real), half_turn_sine(real)
    half, one, two = real(0.5), real(1), real(2)

    @device_function
    def direction(first, second):
        along = fma(two, unit(first), -one)
        across = sqrt(max(fma(-along, along, one), real(0)))
        s = sine(unit(second) - half)
        cosine, other = fma(two * s, s, -one), two * s * sqrt(max(fma(-s, s, one), real(0)))
        return across * cosine, across * other, along

    return direction


@cache
def _make_place(real):
    scale = real(2.0**-32)

    @device_function
    def place(word, cells):
        """The cell of a random place on an axis, and the place in it."""
        spread = np.uint64(word) * np.uint64(cells)
        return np.int32(spread >> np.uint64(32)), real(np.uint32(spread & np.uint64(0xFFFFFFFF))) * scale

    return place


@cache
def make_source_kernel(real, add, at_start: bool):
    """A kernel's body: each item is a particle of the source, of the start or of this step."""
    words, place, direction, unit = tea(ROUNDS), _make_place(real), make_direction(real), uniform(real)
    charge = make_deposit_charge(real, add)
    half, fresh = real(0.5), real(FRESH)

    @device_function
    def inject(x, n, particles, count, fields, context, source):
        layout = context.layout
        for i in range(x, x + n):
            number = np.int64(source.others + i)
            if not at_start:
                number += source.start + source.per_step * (source.steps[0] - 1)
            low, high = uint32(number), uint32(number >> 32)
            a, b = words(low, high, SOURCE_STREAM, source.seed, 0)
            c, d = words(low, high, SOURCE_STREAM, source.seed, 1)
            e, f = words(low, high, SOURCE_STREAM, source.seed, 2)
            cx, px = place(a, source.whole[0])
            cy, py = place(b, source.whole[1])
            cz, pz = place(c, source.whole[2])
            cx, cy, cz = cx - source.first[0], cy - source.first[1], cz - source.first[2]
            # where all is full nothing is counted any more, or the number would wrap before anybody looks
            if 0 <= cx < layout.nx and 0 <= cy < layout.ny and 0 <= cz < layout.nz and source.used[0] <= count:
                k = add(source.used, 0, 1)
                if k < count:
                    cell = np.int32((cx + 1) + (cy + 1) * layout.row + (cz + 1) * layout.plane)
                    position, left = (px, py, pz), fresh if at_start else unit(f)
                    way, size = direction(d, e), real(source.momentum)
                    momentum = (size * way[0], size * way[1], size * way[2])
                    # the next kick is a whole one: half of it is for the time before the start, or for what is left of
                    # this step, which is more or less than a half
                    field = electric_at(fields.electric, cell, position, layout)
                    momentum = kicked(momentum, field, -half if at_start else left - half)
                    particles.cell[k], particles.weight[k], particles.ids[k] = cell, real(source.weight), number
                    particles.left[k], particles.event[k] = left, 0
                    set_place(particles, k, count, position, momentum)
                    charge(context.charges, cell, position, real(source.weight) * real(context.unit), layout)

    return inject


@device_function
def _tick(x, n, steps):
    for k in range(x, x + n):
        steps[k] += 1


def count_steps(device, steps):
    """The launch that counts a step on the device."""
    return device.compile(Kernel(_tick))((1,), steps)
