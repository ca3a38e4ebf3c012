"""Particles in the order of their cells, now and then: neighbours in memory are neighbours in space, and gaps close."""

from functools import cache, partial

import numpy as np

from repro.parallel import Kernel, device_function, zero
from repro.parallel.launch_sequence import in_turn
from repro.particles.scan import running_sum

from .advance import copy_particle
from .state import EMPTY, Particles, make_particles


@cache
def _make_count(add):
    @device_function
    def count(x, n, cell, used, counts):
        for i in range(x, x + n):
            if i < used[0] and cell[i] >= 0:
                add(counts, cell[i], 1)

    return count


@cache
def _make_scatter(add):
    @device_function
    def scatter(x, n, particles, used, starts, sorted_, count):
        for i in range(x, x + n):
            cell = particles.cell[i]
            if i < used[0] and cell >= 0:
                k = add(starts, cell, 1)
                copy_particle(particles, i, count, sorted_, k, count)

    return scatter


@device_function
def _copy_back(x, n, particles, used, starts, sorted_, count, nodes):
    # the scatter has moved each start to the next cell's
    total = starts[nodes - 1]
    for i in range(x, x + n):
        if i < total:
            copy_particle(sorted_, i, count, particles, i, count)
            particles.event[i] = 0
        elif i < used[0]:
            particles.cell[i] = EMPTY


@device_function
def _use(x, n, used, starts, nodes):
    for _ in range(x, x + n):
        used[0] = starts[nodes - 1]


class CellSort:
    """The launches that bring particles into the order of their cells; `used` is the number of entries in use."""

    def __init__(self, device, real, particles: Particles, used, nodes: int):
        count = len(particles.cell)
        sorted_ = make_particles(device, real, count)
        counts, starts = device.zeros(nodes, np.int32), device.zeros(nodes + 1, np.int32)
        scan = running_sum(device, counts, starts)
        bind = device.compile
        self.parts = {
            "clear the counts": bind(Kernel(zero))((nodes,), counts),
            "count": bind(Kernel(_make_count(device.add)))((count,), particles.cell, used, counts),
            "scan": partial(in_turn, *scan),
            "scatter": bind(Kernel(_make_scatter(device.add)))((count,), particles, used, starts, sorted_, count),
            "copy back": bind(Kernel(_copy_back))((count,), particles, used, starts, sorted_, count, nodes),
            "close gaps": bind(Kernel(_use))((1,), used, starts, nodes),
        }

    def __call__(self):
        """Sort."""
        in_turn(*self.parts.values())
