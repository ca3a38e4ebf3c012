"""Rules of what all simulations let a user choose, see `repro.declared`."""

from typing import Annotated, Any

from repro.declared import Device, OneOf, Whole

from .timeloop import PRECISIONS

OnDevice = Annotated[Any, Device()]

#: "single" or "double"
Precision = Annotated[str, OneOf(PRECISIONS)]

#: threads of a block on a GPU
Block = Annotated[int, Whole(1, 1024)]

#: of random numbers
Seed = Annotated[int, Whole(0, 2**31 - 1)]
