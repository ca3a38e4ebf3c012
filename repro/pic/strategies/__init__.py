"""Ways to move the particles: the same trajectories, and the same sums of currents, to the last bit."""

from ..subdomain import Crossing
from . import batches, global_sums, in_air, tiles, warp_sums
from .strategy import Strategy
from .transfer_buffers import baskets

#: ways to move particles, by name
STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        Strategy("batches", batches.build, crossing=Crossing, on=("serial", "threads")),
        Strategy("global sums", global_sums.build, crossing=Crossing),
        Strategy("warp sums", warp_sums.build, crossing=Crossing, on=("cuda",)),
        Strategy("tiles", tiles.build, crossing=Crossing, on=("cuda",)),
        baskets(),
        Strategy("in air", in_air.build, crossing=Crossing, by_host=True, media=("air",)),
    )
}


def fastest(device, system) -> str:
    """The strategy for runs that compare nothing."""
    if system.medium == "air":
        return "in air"
    if device.name != "cuda":
        return "batches"
    # a simulated GPU has no memory whose sectors count, and each barrier costs it time
    return "global sums" if device.simulated else "warp sums"
