"""A problem on a device, made once: what every strategy of a box binds its kernels to."""

import numpy as np

from ..layout import row_length
from ..node import Specialisation
from ..parameters import MarkedWalls
from .scheme import Scheme, in_order

#: two numbers of half or single precision as one
_WORDS = {np.float16: np.uint32, np.float32: np.uint64}


def _as_bits(argument):
    """Numbers in half precision as kernels know them, by their bits; anything else as it is."""
    return argument.view(np.uint16) if getattr(argument, "dtype", None) == np.float16 else argument


class Box:
    """Problem, device, parameters on it (with the marks of the solid, if there is any) and what to compile for."""

    def __init__(self, problem, device, dtype, layout: str, block: int, half: bool = False):
        self.problem, self.device, self.shape, self.model = problem, device, problem.shape, problem.model
        solid = problem.solid
        self.spec = Specialisation(problem.model, dtype, layout, block, obstacles=solid is not None, half=half)
        #: type in which populations are kept
        self.kept = np.float16 if half else dtype
        #: whether two nodes half the box apart along y lie beside each other, see `paired_pull`
        self.paired, self.parameters = False, problem.parameters(dtype)
        self._put_rows(row_length(problem.nodes) if layout == "soa" else problem.nodes)
        if solid is not None:
            wall = MarkedWalls(*self.parameters.wall, device.to_device(solid.ravel().view("u1")))
            self.parameters = self.parameters._replace(wall=wall)

    def _put_rows(self, row: int) -> None:
        """Set the length of a row of the arrays, see `Grid`, which begins with a line of the cache."""
        self.row, grid = row, self.parameters.grid
        self.parameters = self.parameters._replace(grid=grid._replace(row=row))

    def pair(self) -> None:
        """Let two nodes half the box apart along y lie beside each other."""
        self.paired = True
        self._put_rows(2 * row_length(self.problem.nodes // 2))

    def words(self, array):
        """An array of populations as kernels know it: of pairs their words, else the numbers."""
        return array.view(_WORDS[self.kept]) if self.paired else array

    def arrays(self, count: int) -> list:
        """Zeroed arrays of populations: the fluid at rest with density one."""
        size = self.model.lattice.q * self.row
        return [self.device.zeros(size, self.kept) for _ in range(count)]

    def rows(self, array):
        """The populations of an array as (q, nodes), of pairs as (q, nz, 2, ny/2, nx): a view."""
        q, (nx, ny, nz) = self.model.lattice.q, self.shape
        if self.paired:
            lines = array.reshape(q, -1)[:, : self.problem.nodes].reshape(q, nz, ny // 2, nx, 2)
            return lines.transpose(0, 1, 4, 2, 3)
        return array.reshape(q, -1)[:, : self.problem.nodes] if self.spec.layout == "soa" else array.reshape(-1, q).T

    def compile(self, kernel, shape=None):
        """The kernel over all nodes of the box, or over `shape`: bind(*arguments) gives a launch."""
        bind = self.device.compile(kernel)
        return lambda *arguments: bind(shape or self.shape, *map(_as_bits, arguments))

    def in_place(self, parts_of) -> Scheme:
        """A scheme with one array f, at rest, whose steps are the parts of parts_of(f) one after the other."""
        (f,) = self.arrays(1)
        parts = parts_of(f)
        step = in_order(*parts.values())
        return Scheme((step, step), (f, f), collided=False, parts=(parts, parts))
