"""Ways to move the particles: the same trajectories, and the same sums of currents, to the last bit."""

from . import batches, global_sums, in_air, tiles
from .baskets import baskets
from .strategy import Strategy

#: ways to move particles, by name
STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        Strategy("batches", batches.build, late=batches.late, on=("serial", "threads")),
        Strategy("global sums", global_sums.build, late=global_sums.late),
        Strategy("tiles", tiles.build, late=global_sums.late, on=("cuda",)),
        baskets(),
        Strategy("in air", in_air.build, late=in_air.late, by_host=True, through_air=True),
    )
}


def fastest(device, system) -> str:
    """The strategy for runs that compare nothing."""
    if system.air is not None:
        return "in air"
    return "global sums" if device.name == "cuda" else "batches"
