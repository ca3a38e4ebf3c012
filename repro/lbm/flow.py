"""What all running flows are: a problem on a device by a strategy; in a box, in a porous medium, of two fluids."""

import numpy as np

from repro.errors import InputError
from repro.parallel import PRECISIONS, TimeLoop, require_finite, require_memory


class FlowSimulation(TimeLoop):
    """A time loop with its strategy's `scheme`; what a flow has of its own are `ROWS`, `lattice` and the problem.

    The problem gives `lattice`, `shape` (nx, ny, nz), `solid` (mask (nz, ny, nx) or None) and `fluid_nodes`.
    """

    #: rows of the fields: density minus one and velocity
    ROWS = 4
    #: strategies by name, modules with `COST` and `build`
    STRATEGIES: dict
    #: what a user may change where the flow diverges
    ADVICE = ""

    def __init__(self, problem, device, strategy: str, precision: str, block: int, layout: str = "soa"):
        self.problem, self.strategy, self.precision, self.block = problem, strategy, precision, block
        self.layout, self.dtype, self.lattice = layout, PRECISIONS[precision], problem.lattice
        sides = " x ".join(map(str, problem.shape))
        require_memory(device, self.memory, f"a {sides} grid ({strategy}, {precision} precision)")
        self.scheme = self._build(device)
        super().__init__(device, self.scheme.steps, start=self.scheme.start, look=self._require_valid)

    def _build(self, device):
        return self.STRATEGIES[self.strategy].build(self.problem, device, self.dtype, self.block)

    def __repr__(self):
        name = f"{type(self).__name__}({self.lattice.name}"
        return f"{name}, {self.problem.shape}, {self.strategy}, {self.device})"

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return np.dtype(self.dtype).itemsize

    @property
    def porosity(self) -> float:
        """Share of the nodes that are fluid."""
        return self.problem.fluid_nodes / int(np.prod(self.problem.shape))

    @property
    def cost(self):
        """What the strategy keeps and moves, see `strategies.scheme.Cost`."""
        return self.STRATEGIES[self.strategy].COST

    @property
    def memory(self) -> int:
        """Bytes on the device."""
        return int(self.cost.bytes_per_node(self.itemsize, self.porosity, self.lattice.q) * np.prod(self.problem.shape))

    @property
    def bytes_per_update(self) -> float:
        """Bytes that the update of one fluid node must move through memory."""
        return self.cost.bytes_per_update(self.itemsize, self.porosity, self.lattice.q)

    @property
    def state(self):
        """The device array that holds the populations now; of two fluids a pair."""
        return self.scheme.states[self.steps % 2]

    @property
    def _stored(self) -> int:
        """Number of stored nodes; rows of the sparse strategies are a little longer."""
        return int(np.prod(self.problem.shape)) if self.scheme.cells is None else self.problem.fluid_nodes

    def set_populations(self, populations: np.ndarray) -> None:
        """Start from populations f_i of shape (q, nz, ny, nx), before any collision; only before the first step
        and the first look at the flow.

        Shape (q, 1, 1, 1) sets all nodes to the same populations.
        """
        self._require_untouched("populations")
        q, given = self.lattice.q, np.asarray(populations, float)
        if given.shape not in ((q, 1, 1, 1), (q, *self.problem.shape[::-1])):
            raise InputError(f"populations of shape {given.shape}: it must be {(q, *self.problem.shape[::-1])}")
        values = (given - self._stored_from).reshape(q, -1)
        if self.scheme.cells is not None and values.shape[1] > 1:
            values = values[:, self.scheme.cells]
        self._rows(self.state)[:] = self.device.to_device(values.astype(self.dtype))

    @property
    def _stored_from(self) -> np.ndarray:
        """What is taken off populations before they are stored: their weights."""
        return np.array(self.lattice.weights)[:, None, None, None]

    def _rows(self, array):
        """The stored populations as rows [q][node]."""
        q = self.lattice.q
        return array.reshape(q, -1)[:, : self._stored] if self.layout == "soa" else array.reshape(-1, q).T

    def _update_fields(self):
        self.start()
        self.scheme.observe[self.steps % 2]()
        return self.scheme.fields.reshape(self.ROWS, -1)[:, : self._stored]

    def _field_values(self) -> np.ndarray:
        """Densities minus one and velocity on the host in double precision, (ROWS, nz, ny, nx); 0 in solid."""
        values = self.device.to_host(self._update_fields()).astype(float)
        if self.scheme.cells is not None:
            full = np.zeros((self.ROWS, int(np.prod(self.problem.shape))))
            full[:, self.scheme.cells] = values
            values = full
        return values.reshape(self.ROWS, *self.problem.shape[::-1])

    def fields(self) -> tuple[np.ndarray, np.ndarray]:
        """Density (nz, ny, nx) and velocity (3, nz, ny, nx) on the host, in double precision; 1 and 0 in solid."""
        values = self._field_values()
        return 1 + values[0], values[1:]

    def _require_valid(self):
        require_finite(self.state, self.steps, f"{self.problem.description}; {self.ADVICE}")
