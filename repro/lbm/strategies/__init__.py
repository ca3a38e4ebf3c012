"""Ways of running the same lattice Boltzmann step on a device, one a file.

Each module has `build(box) -> Scheme`, see `box.Box`, and `COST`. STRATEGIES are those of the
porous paper, section 4.1, for all boxes; SWAPS those of the swap paper, for closed boxes of "standard" faces.
`esoteric pull` is what they are compared with; `paired pull` is the fastest, where it can be.
"""

from . import esoteric_pull, paired_pull, pull, push, shared_memory, split
from .swap import links, rays, sweep, types

STRATEGIES = {"pull": pull, "push": push, "split": split, "shared memory": shared_memory}
SWAPS = {"swap sweep": sweep, "swap rays": rays, "swap types": types, "swap links": links}
ALL = STRATEGIES | SWAPS | {"esoteric pull": esoteric_pull, "paired pull": paired_pull}
#: threads a block on a GPU unless others are asked for, see docs/performance.md; 128 for the other strategies
BLOCKS = dict.fromkeys(("pull", "push", "split", "esoteric pull", "paired pull"), 256)
BLOCKS["paired pull", "half"] = 128
#: those that can keep populations in half precision
IN_HALF = ("pull", "push", "split", "paired pull")
