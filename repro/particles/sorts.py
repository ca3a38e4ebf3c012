"""The ways to sort particles by the number of their cell: (device, cells, count, real) makes one."""

from .block_sort import BlockSort
from .radix_sort import CellSort, RadixSort


class LibrarySort(CellSort):
    """A `CellSort` by `argsort` of NumPy, or on a GPU of CuPy, which is a radix sort.

    It takes memory as it runs, so that a GPU cannot record it for a graph.
    """

    recorded = False

    def __init__(self, device, cells, count: int, real):
        super().__init__(device, cells, count, real)
        self._allocate(1)

    def _passes(self) -> dict:
        def sort():
            # a stable one: the particles of a cell keep their order
            self.members[:] = self.device.xp.argsort(self._keys[0], kind="stable")
            self._sorted_keys[:] = self._keys[0][self.members]

        return {"sort by a library": sort}


SORTS = {"in global memory": RadixSort, "in shared memory": BlockSort, "by a library": LibrarySort}
