"""Dissipative particle dynamics: the paper `dpd`.

Where a section is:

    2, equations 1 to 5            forces.py (the force of a pair, and laws of your own), fluid.py (its parameters)
    2, the integrator              integrate.py
    4.1, table 1                   repro/particles/linked_list.py, strategies/linked.py
    4.1, table 2                   repro/particles/cell_table.py
    4.2                            strategies/cell.py (one thread per cell), particle.py (one thread per particle)
    4.3, equations 6 to 8          noise.py (the serial sequence, both methods), repro/particles/random.py (TEA)
    4.3, half the stencil          repro/particles/cells.py (neighbour), strategies/particle_full.py (the whole stencil)
    4.4, figures 4 and 5           uneven.py (gas and liquid), strategies/cell_by_load.py (cells sorted by load)
    4.5.1, 4.5.2                   repro/papers/dpd/memory_and_launch/memory.py (coalesced access), constants.py
    4.6                            repro/papers/dpd/memory_and_launch/occupancy.py (launch parameters)
    5, figures 7 and 8, table 3    cases.py (Poiseuille), walls.py; repro/papers/dpd/flow/plates.py
    5, table 4                     benchmark.py; repro/papers/dpd/speed
    6, figure 9                    cases.py (Channel); repro/papers/dpd/flow/sections.py

Not in the paper: strategies/planes.py (fast on a CPU), sorted_cells.py (fast on a GPU) and ranks.py (several of them).

From an equation to its kernel: forces.py, pair.py, a file of strategies/, and the launch at its end.
"""

from .averages import Averages
from .cases import Bulk, Channel, Poiseuille
from .fluid import Fluid
from .forces import conservative
from .observables import block_average, pressure, temperature
from .simulation import Simulation
from .system import System
from .walls import Walls

__all__ = ["Averages", "Bulk", "Channel", "Fluid", "Poiseuille", "Simulation", "System", "Walls"]
__all__ += ["block_average", "conservative", "pressure", "temperature"]
