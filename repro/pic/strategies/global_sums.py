"""One thread a particle, which follows it through the step and adds its currents to those of all. Not in the paper."""

from repro.parallel import Kernel

from ..advance import make_follow


def build(simulation) -> dict:
    """The launches of a step by name."""
    kernel = Kernel(make_follow(simulation.real, simulation.device.add), strict=True)
    move, rest = (simulation.bind(kernel, resuming) for resuming in (0, 1))
    move.resume = rest
    return {"particles": move}
