"""The ways to sort particles by the number of their cell, one file each: (device, cells, count, real) makes one."""

from .block_sort import BlockSort
from .library_sort import LibrarySort
from .radix_sort import RadixSort

SORTS = {"in global memory": RadixSort, "in shared memory": BlockSort, "by a library": LibrarySort}
