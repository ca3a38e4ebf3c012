"""The ranks around one: in which of 27 displacements they lie, and the tags of what goes there and comes from there."""

from itertools import product

from .domain import Domain
from .world import HALO_TAG

#: displacements to the blocks around one, itself in the middle, x slowest; opposite ones lie opposite in the list
AROUND = tuple(product((-1, 0, 1), repeat=3))

#: of messages with pieces of a whole: that of no displacement at all
PIECE_TAG = HALO_TAG + AROUND.index((0, 0, 0))


def several(ranks) -> bool:
    """Whether there is more than one rank; None stands for one."""
    return ranks is not None and ranks.count > 1


def tags_of(number: int) -> tuple[int, int]:
    """The tags of what is sent to the rank at displacement AROUND[number], and of what comes from there.

    A rank may lie in several directions: that in which a message goes tells them apart.
    """
    return HALO_TAG + number, HALO_TAG + len(AROUND) - 1 - number


def rank_beside(matrix: Domain, place, way) -> int | None:
    """The rank at a displacement from a place in the matrix of blocks; None beyond a wall."""
    return matrix.rank_at(tuple(map(sum, zip(place, way, strict=True))))
