"""Ways of running the same lattice Boltzmann step on a device, one a file (porous paper, section 4.1).

Each module has `build(problem, device, dtype, layout, block) -> Scheme` and `TRAFFIC`.
"""

from . import pull, push, shared_memory, split

STRATEGIES = {"pull": pull, "push": push, "split": split, "shared memory": shared_memory}
