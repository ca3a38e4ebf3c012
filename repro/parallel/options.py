"""Rules of what all simulations let a user choose, see `repro.declared`."""

from typing import Annotated, Any

from repro.declared import Device, OneOf, OrNone, Rule, Whole

from .timeloop import PRECISIONS

OnDevice = Annotated[Any, Device()]

#: "single" or "double"
Precision = Annotated[str, OneOf(PRECISIONS)]

#: threads of a block on a GPU
BLOCK = Whole(1, 1024)
Block = Annotated[int, BLOCK]

#: of random numbers
Seed = Annotated[int, Whole(0, 2**31 - 1)]

#: the processes that share the work, or None: this one has all
OnRanks = Annotated[
    Any,
    OrNone(Rule("the ranks of a run, see repro.parallel.ranks.world.world()", lambda value: hasattr(value, "count"))),
]
