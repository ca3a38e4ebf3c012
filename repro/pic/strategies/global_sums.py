"""One thread a particle, which follows it through the step and adds its currents to those of all. Not in the paper."""

from functools import cache

from repro.parallel import Kernel, inline

from ..travel import travelling


@cache
def _body(real, add):
    travel = travelling(real, add)

    @inline
    def follow(x, n, particles, count, fields, around, courant, layout):
        for i in range(x, x + n):
            if particles.cell[i] >= 0:
                travel(i, particles, count, fields, around, courant, layout)

    return follow


def build(setup) -> dict:
    """The launches of a step by name."""
    kernel = Kernel(_body(setup.real, setup.device.add), strict=True)
    count = len(setup.particles.cell)
    launch = setup.device.compile(kernel)((count,), setup.particles, count, *setup.surroundings)
    return {"particles": launch}
