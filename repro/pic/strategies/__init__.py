"""Ways to move the particles: the same trajectories, and the same sums of currents, to the last bit."""

from .batches import build as batches
from .global_sums import build as global_sums

#: how to build the launches that move particles, by name
STRATEGIES = {"batches": batches, "global sums": global_sums}
