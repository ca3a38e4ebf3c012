"""What a strategy gives the simulation, and how all of them number cells."""

from collections.abc import Callable
from dataclasses import dataclass

from repro.parallel import inline


@dataclass(frozen=True)
class Lists:
    """The fluid's table of cells: the launches that bring it up to date, by name, and its two arrays."""

    parts: dict[str, Callable[[], None]]
    starts: object
    members: object


@inline
def cell_number(at, cells):
    """The number of the cell `at` = (cx, cy, cz) in the order of cells."""
    return (at[2] * cells[1] + at[1]) * cells[0] + at[0]
