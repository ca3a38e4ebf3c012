"""Particles with two vectors in the order of their cells, beside the arrays from which they come."""

from .cell_permutation import CellPermutation


class SortedParticles:
    """Positions r, two vectors u and v, and ids in the order of cells; cell c begins at starts[c].

    `source` holds the unsorted arrays r, u, v (flat, 3 * count) and ids (count).
    """

    def __init__(self, device, source, cells, real):
        self._permutation = CellPermutation(device, cells, source.ids, real)
        self._source = source.r, source.u, source.v, source.ids
        self._sorted = self.r, self.u, self.v, self.ids = self._permutation.copies(self._source)
        self.starts = self._permutation.starts

    def update(self) -> dict:
        """The launches that sort the source's particles, by name."""
        return self._permutation.sort(self._source[0], self._source, self._sorted)

    def hand_back(self):
        """The launch that gives the source's arrays the order of the cells."""
        return self._permutation.copy(self._sorted, self._source)
