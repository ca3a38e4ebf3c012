"""A device that runs kernels as the plain Python that they are: nothing to compile, for a few particles."""

import numpy as np

from repro.parallel import CpuDevice


class PlainPython(CpuDevice):
    """Items one after the other, as on one core, each as `repro.parallel.loops` would have a thread of a GPU run it."""

    def __init__(self):
        super().__init__("serial")

    def compile(self, kernel):
        """Returns bind(shape, *arguments), which returns a function that runs the kernel's body."""

        def bind(shape, *arguments):
            nx, ny, nz = kernel.padded(shape)
            places = [(x, 1, y, z)[: kernel.ndim + 1] for z in range(nz) for y in range(ny) for x in range(nx)]

            # whole numbers of 32 bits wrap around on every device, and NumPy warns
            @np.errstate(over="ignore")
            def run():
                for place in places:
                    kernel.body(*place, *arguments)

            return run

        return bind
