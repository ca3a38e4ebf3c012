"""What a strategy gives the simulation, and how all of them number cells and go around one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from repro.parallel import inline

#: rows of three cells along x around a cell, in the order of cells
ROWS = 9


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


@cache
def around(real, visit, walk):
    """Returns total(found, me, at, species, p, cells): what all rows around the cell `at` add, one after the other."""
    along = walk(real, visit)

    @inline
    def total(found, me, at, species, p, cells):
        for row in range(ROWS):
            found = along(found, me, at, row, species, p, cells)
        return found

    return total
