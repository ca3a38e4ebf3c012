"""A problem on a device, made once: what every strategy of a box binds its kernels to."""

import numpy as np

from ..layout import row_length
from ..node import Specialisation
from ..parameters import MarkedWalls
from .scheme import Scheme, in_order


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
        #: length of a row of the arrays, see `Grid`: each begins with a line of the cache, whatever the nodes
        self.row = row_length(problem.nodes) if layout == "soa" else problem.nodes
        parameters = problem.parameters(dtype)
        self.parameters = parameters._replace(grid=parameters.grid._replace(row=self.row))
        if solid is not None:
            wall = MarkedWalls(*self.parameters.wall, device.to_device(solid.ravel().view("u1")))
            self.parameters = self.parameters._replace(wall=wall)

    def arrays(self, count: int) -> list:
        """Zeroed arrays of populations: the fluid at rest with density one."""
        size = self.model.lattice.q * self.row
        return [self.device.zeros(size, self.kept) for _ in range(count)]

    def rows(self, array):
        """The populations of an array as (q, nodes): a view."""
        q = self.model.lattice.q
        return array.reshape(q, -1)[:, : self.problem.nodes] if self.spec.layout == "soa" else array.reshape(-1, q).T

    def compile(self, kernel):
        """The kernel over all nodes of the box: bind(*arguments) gives a launch."""
        bind = self.device.compile(kernel)
        return lambda *arguments: bind(self.shape, *map(_as_bits, arguments))

    def in_place(self, parts_of) -> Scheme:
        """A scheme with one array f, at rest, whose steps are the parts of parts_of(f) one after the other."""
        (f,) = self.arrays(1)
        parts = parts_of(f)
        step = in_order(*parts.values())
        return Scheme((step, step), (f, f), collided=False, parts=(parts, parts))
