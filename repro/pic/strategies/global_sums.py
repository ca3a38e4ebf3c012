"""One thread a particle, which follows it through the step and adds its currents to those of all. Not in the paper."""

from functools import cache

from repro.parallel import Kernel, inline

from ..travel import travelling


@cache
def _body(real, add):
    travel, one = travelling(real, add), real(1)

    @inline
    def follow(x, n, particles, count, fields, around, courant, layout, late):
        for i in range(x, x + n):
            if particles.cell[i] >= 0 and (not late or particles.left[i] <= one):
                travel(i, particles, count, fields, around, courant, layout)

    return follow


def build(setup) -> dict:
    """The launches of a step by name."""
    return {"particles": _bound(setup, 0)}


def late(setup, moves: dict):
    """The launch that moves those who are in the midst of a step."""
    return _bound(setup, 1)


def _bound(setup, late: int):
    kernel = Kernel(_body(setup.real, setup.device.add), strict=True)
    count = len(setup.particles.cell)
    return setup.device.compile(kernel)((count,), setup.particles, count, *setup.surroundings, late)
