"""One thread a particle, which follows it through the step and adds its currents to those of all. Not in the paper."""

from functools import cache

from repro.parallel import Kernel, device_function

from ..advance import make_advance


@cache
def _body(real, add):
    advance, one = make_advance(real, add), real(1)

    @device_function
    def follow(x, n, particles, count, fields, context, courant, layout, resuming):
        for i in range(x, x + n):
            if particles.cell[i] >= 0 and (not resuming or particles.left[i] <= one):
                advance(i, particles, count, fields, context, courant, layout)

    return follow


def build(simulation) -> dict:
    """The launches of a step by name."""
    kernel = Kernel(_body(simulation.real, simulation.device.add), strict=True)
    move, rest = (simulation.bind(kernel, resuming) for resuming in (0, 1))
    move.resume = rest
    return {"particles": move}
