"""Ways to move the particles: the same trajectories, and the same sums of currents, to the last bit."""

from .baskets import baskets
from .batches import build as _batches
from .global_sums import build as _global_sums
from .in_air import build as _in_air
from .strategy import Strategy
from .tiles import build as _tiles

#: ways to move particles, by name
STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        Strategy("batches", _batches, on=("serial", "threads")),
        Strategy("global sums", _global_sums),
        Strategy("tiles", _tiles, on=("cuda",)),
        baskets(),
        Strategy("in air", _in_air, by_host=True, through_air=True),
    )
}


def fastest(device, system) -> str:
    """The strategy for runs that compare nothing."""
    if system.air is not None:
        return "in air"
    return "global sums" if device.name == "cuda" else "batches"
