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


def build(setup) -> dict:
    """The launches of a step by name."""
    return {"particles": _bound(setup, 0)}


def resume(setup, moves: dict):
    """The launch that ends partial steps."""
    return _bound(setup, 1)


def _bound(setup, resuming: int):
    kernel = Kernel(_body(setup.real, setup.device.add), strict=True)
    count = len(setup.particles.cell)
    return setup.device.compile(kernel)((count,), setup.particles, count, *setup.step_arguments, resuming)
