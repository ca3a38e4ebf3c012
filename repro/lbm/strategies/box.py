"""A problem on a device, made once: what every strategy of a box binds its kernels to."""

from functools import partial

from ..node import Specialisation
from ..parameters import MarkedWalls
from .scheme import Scheme, in_order


class Box:
    """Problem, device, parameters on it (with the marks of the solid, if there is any) and what to compile for."""

    def __init__(self, problem, device, dtype, layout: str, block: int):
        self.problem, self.device, self.shape, self.model = problem, device, problem.shape, problem.model
        solid = problem.solid
        self.spec = Specialisation(problem.model, dtype, layout, block, obstacles=solid is not None)
        self.parameters = problem.parameters(dtype)
        if solid is not None:
            wall = MarkedWalls(*self.parameters.wall, device.to_device(solid.ravel().view("u1")))
            self.parameters = self.parameters._replace(wall=wall)

    def arrays(self, count: int) -> list:
        """Zeroed arrays of populations: the fluid at rest with density one."""
        size = self.model.lattice.q * self.problem.nodes
        return [self.device.zeros(size, self.spec.dtype) for _ in range(count)]

    def compile(self, kernel):
        """The kernel over all nodes of the box: bind(*arguments) gives a launch."""
        return partial(self.device.compile(kernel), self.shape)

    def in_place(self, parts_of) -> Scheme:
        """A scheme with one array f, at rest, whose steps are the parts of parts_of(f) one after the other."""
        (f,) = self.arrays(1)
        parts = parts_of(f)
        step = in_order(*parts.values())
        return Scheme((step, step), (f, f), collided=False, parts=(parts, parts))
