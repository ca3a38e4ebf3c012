"""What a strategy gives the simulation, and how all of them number cells and go around one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from repro.parallel import device_function
from repro.particles.cells import make_place

#: rows of three cells along x around a cell, in the order of cells
ROWS = 9


@dataclass(frozen=True)
class Lists:
    """The fluid's table of cells: the launches that bring it up to date, by name, and its two arrays."""

    parts: dict[str, Callable[[], None]]
    starts: object
    members: object


class Search(NamedTuple):
    """A strategy: how the particles around a cell are found.

    walk(real, pair_term) makes along(sums, target, cell, row, species, p, cells), which visits the particles of one
    species in three of the 27 cells around `cell` = (cx, cy, cz, the target's number, number of targets), a row along x
    with a number below ROWS: sums become pair_term(sums, target, j, species, p) for one particle j after the other.
    """

    #: lists(device, cells, state, real): the fluid's `Lists`
    lists: Callable
    #: static(device, species): species that do not move, sorted by their cells, with the table that is walked
    static: Callable
    #: occupied(cell, species, cells): whether the 27 cells around a cell hold a particle
    occupied: Callable
    walk: Callable
    #: the same with what is fastest on a GPU
    walk_on_gpu: Callable
    #: on a CPU, the walk of a step's first sum, which may write the neighbours down in `species.cached_neighbours`, and
    #: that of its second one, over the same places, which may read them
    first_walk: Callable
    second_walk: Callable
    #: for one core, ahead(real, both) makes walk(sums, table, target, cell, species, p, cells), which visits the
    #: particles of the fluid within the support that come after the target, so that each pair is met once: sums become
    #: both(sums, table, target, j, species, p). None for a search that meets each pair from both sides
    ahead: Callable | None = None
    #: words that are cached on a CPU for a particle and a type of neighbours
    cached_words: int = 0
    #: find(real), for a GPU: what gives the bits of the neighbours among candidates, of which lists are made (see
    #: `neighbour_list`)
    find: Callable | None = None
    #: whether threads of a GPU share a particle's sum where there are few particles (see `sum_kernels`)
    shares: bool = False


@cache
def make_locate(real):
    """The cell of particle i of `count` at a position, as a walk takes it: locate(position, i, count, cells)."""
    place = make_place(real)

    @device_function
    def locate(position, i, count, cells):
        return *place(position[0], position[1], position[2], cells), i, count

    return locate


@cache
def make_sum_around(real, pair_term, walk):
    """The sums over a species in all rows around a cell, as total(sums, target, cell, species, p, cells)."""
    along = walk(real, pair_term)

    @device_function
    def total(sums, target, cell, species, p, cells):
        for row in range(ROWS):
            sums = along(sums, target, cell, row, species, p, cells)
        return sums

    return total


def unchanged(device, species):
    """Species come with a first-index array."""
    return species
