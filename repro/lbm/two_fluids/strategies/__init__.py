"""Ways of keeping two fluids and finding their populations, one a file (porous paper, section 6.1).

Each module has `build(problem, device, dtype, block) -> Scheme` and `COST`.
"""

from . import dense, sparse, tiled

STRATEGIES = {"dense": dense, "sparse": sparse, "tiled": tiled}
