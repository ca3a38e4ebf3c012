"""Sort of particles by the number of their cell by a library: NumPy's, or on a GPU CuPy's, which is a radix sort."""

from .radix_sort import CellSort


class LibrarySort(CellSort):
    """A `CellSort` by `argsort`. It takes memory as it runs, so that a GPU cannot record it for a graph."""

    recorded = False

    def __init__(self, device, cells, count: int, real):
        super().__init__(device, cells, count, real)
        self._allocate(1)

    def _passes(self) -> dict:
        keys, order = self._keys[0], self.device.xp.argsort

        def sort():
            # a stable one: the particles of a cell keep their order
            self.members[:] = order(keys, kind="stable")
            self._sorted_keys[:] = keys[self.members]

        return {"sort by a library": sort}
