"""What the particles of a simulation do in a step, counted: their segments, and the launches that build them."""

import numpy as np

from .simulation import Simulation
from .strategies.host_loop import HostLoop
from .strategies.rank_exchange import RankExchange

#: most particles of whom the segments are counted
_SAMPLE = 1_000_000


def host_loop_of(simulation: Simulation) -> HostLoop | None:
    """What launches in the paper's strategy, where the host counts launches and segments; None for others."""
    moves = simulation.parts["particles"]
    moves = moves.host_loop if isinstance(moves, RankExchange) else moves
    return moves if isinstance(moves, HostLoop) else None


def mean_segments(simulation: Simulation) -> float:
    """Segments of a particle in a step: counted where the host launches them, or else one and the faces it crosses.

    Faces are counted between its cells before and after a step, of a sample of a million, which this makes.
    One that leaves a cell and comes back to its layer in the same step counts too few: rare where orbits are wide.
    """
    if host_loop := host_loop_of(simulation):
        return host_loop.last.segments / max(simulation.count, 1)
    if simulation.sort_every and simulation.steps % simulation.sort_every == 0:
        # a sort would give the entries to others
        simulation.advance(1)
    cells, device, mesh = simulation.particles_on_device.cell, simulation.device, simulation.system.mesh
    sample = slice(None, None, max(1, len(cells) // _SAMPLE))
    before = device.to_host(cells[sample])
    simulation.advance(1)
    after = device.to_host(cells[sample])
    there = (before >= 0) & (after >= 0)
    ways = np.abs(mesh.cells(after[there]) - mesh.cells(before[there]))
    for axis, (count, boundary) in enumerate(zip(mesh.shape, mesh.boundaries, strict=True)):
        if boundary == "periodic":
            ways[:, axis] = np.minimum(ways[:, axis], count - ways[:, axis])
    return 1 + float(ways.sum() / max(there.sum(), 1))
