"""What all running flows are: a problem on a device by a strategy; in a box, in a porous medium, of two fluids."""

from dataclasses import replace
from functools import partial
from math import prod
from typing import Annotated, ClassVar

import numpy as np

from repro.declared import Kind, Numbers, OneOf, OrNone, checked
from repro.errors import InputError, require, short
from repro.parallel import PRECISIONS, TimeLoop, require_finite, require_memory
from repro.parallel.options import BLOCK, OnDevice, OnRanks

from .lattice import D3Q19
from .ranks import several, share_of
from .strategies.scheme import Cost

#: threads a block on a GPU
DEFAULT_BLOCK = 128


def on_nodes(what: str, values, shape: tuple[int, ...], components: tuple[int, ...] = ()) -> np.ndarray:
    """Numbers on all nodes, (*components, *shape), given so or, where all nodes have the same, of shape components.

    InputError for any other shape: NumPy would stretch a row or a plane over the box without a word.
    """
    try:
        found = np.asarray(values, float)
    except (TypeError, ValueError):
        raise InputError(f"{what} = {short(values)}: must be numbers") from None
    full, alike = (*components, *shape), "one number" if not components else f"{components[0]} numbers"
    if found.shape not in (components, full):
        raise InputError(f"{what} of shape {found.shape}: it must be {full}, or {alike} for all nodes")
    return np.broadcast_to(found if found.shape == full else found.reshape(*components, *[1] * len(shape)), full)


class FlowSimulation(TimeLoop):
    """A flow that solves `problem`, in lattice units.

    `device` comes from `repro.parallel.select`, `strategy` is a key of STRATEGIES (None: DEFAULT), `precision` one of
    PRECISIONS, `block` the threads a block on a GPU (None: those of `block_of`), `layout` one of LAYOUTS. Raises
    InputError for what cannot work and MemoryLimitError before allocating what does not fit.

    With `ranks` (`repro.parallel.ranks.world.world()`) each of several processes has a part of the box, and each does
    the same: `part` is the problem there, with a halo, `gathered` brings fields together. A step has the bits of one
    rank's where nodes are updated one by one; in runs of nodes (`threads`), which begin elsewhere, single precision is
    rounded otherwise. Each rank takes the GPU that it sees first: CUDA_VISIBLE_DEVICES gives it one of its own.

    The problem gives `lattice`, `shape` (nx, ny, nz), `solid` (mask (nz, ny, nx) or None), `fluid_nodes`, and as
    `stored_shape` the nodes that are kept: those of `shape` come first along each axis.
    """

    #: rows of the fields: density minus one and velocity
    ROWS = 4
    #: strategies by name, modules with `COST` and `build`, and the one that is taken unless another is named
    STRATEGIES: dict
    DEFAULT: str
    #: which of them run on several ranks, that for them first: those that leave populations after the collision at
    #: their own nodes
    ON_RANKS: tuple[str, ...] = ()
    #: class of the problem, and what else a refusal says of it
    PROBLEM: type
    WANTED = ""
    LAYOUTS = ("soa",)
    #: threads a block by strategy, or by strategy and precision, where they are not DEFAULT_BLOCK
    BLOCKS: ClassVar[dict] = {}
    #: type of all numbers by the name of the precision
    PRECISIONS = PRECISIONS
    #: what a user may change where the flow diverges
    ADVICE = ""

    @checked
    def __init__(
        self,
        problem,
        device: OnDevice,
        *,
        strategy: str | None = None,
        precision: str = "single",
        layout: str = "soa",
        block: Annotated[int | None, OrNone(BLOCK)] = None,
        ranks: OnRanks = None,
    ):
        if strategy is None:
            strategy = self.ON_RANKS[0] if self.ON_RANKS and several(ranks) else self.DEFAULT
        Kind(self.PROBLEM, wanted=self.WANTED).check("problem", problem)
        OneOf(self.STRATEGIES).check("strategy", strategy)
        OneOf(self.PRECISIONS).check("precision", precision)
        OneOf(self.LAYOUTS).check("layout", layout)
        self.problem, self.strategy, self.precision = problem, strategy, precision
        self.block = block or self.block_of(strategy, precision)
        self.layout, self.dtype, self.lattice = layout, self.PRECISIONS[precision], problem.lattice
        self.share = share_of(self, ranks)
        #: the problem on the nodes that are here
        self.part = self.share.problem
        sides = " x ".join(map(str, self.part.shape))
        require_memory(device, self.memory, f"a {sides} grid ({strategy}, {precision} precision)")
        self.scheme = self.share.exchanged(self._build(device), device)
        super().__init__(device, self.scheme.steps, start=self.scheme.start, look=self._require_valid)
        self._put_at_rest()

    @classmethod
    def block_of(cls, strategy: str, precision: str) -> int:
        """Threads a block on a GPU, unless others are asked for."""
        return cls.BLOCKS.get((strategy, precision), cls.BLOCKS.get(strategy, DEFAULT_BLOCK))

    def _put_at_rest(self):
        """Set the populations at first where they are not those of density one, which are zeros in the arrays."""

    def _build(self, device):
        return self.STRATEGIES[self.strategy].build(self.part, device, self.dtype, self.block)

    def __repr__(self):
        name = f"{type(self).__name__}({self.lattice.name}"
        return f"{name}, {self.problem.shape}, {self.strategy}, {self.device})"

    @property
    def itemsize(self) -> int:
        """Bytes of a population."""
        return np.dtype(self.kept).itemsize

    @property
    def kept(self) -> type:
        """Type in which populations are kept."""
        return self.dtype

    @property
    def _unit(self) -> float:
        """What a population that is kept as 1 stands for."""
        return 1.0

    @property
    def cost(self) -> Cost:
        """What the strategy keeps and moves on this lattice; a strategy states that on D3Q19."""
        cost = self.STRATEGIES[self.strategy].COST
        return replace(cost, map=cost.map * (self.lattice.q - 1) / (D3Q19.q - 1))

    @property
    def memory(self) -> int:
        """Bytes on the device."""
        nodes = prod(self.part.stored_shape)
        each = self.cost.bytes_per_node(self.itemsize, self.part.fluid_nodes / nodes, self.lattice.q)
        return int(each * self._places)

    @property
    def _places(self) -> int:
        """Places of a population in an array: more than there are nodes where its row ends with a line of the cache."""
        return prod(self.part.stored_shape)

    @property
    def bytes_per_update(self) -> float:
        """Bytes that the update of one fluid node must move through memory."""
        porosity = self.problem.fluid_nodes / prod(self.problem.shape)
        return self.cost.bytes_per_update(self.itemsize, porosity, self.lattice.q)

    @property
    def state(self):
        """The device array that holds the populations now; of two fluids a pair."""
        return self.scheme.states[self.steps % 2]

    @property
    def _stored(self) -> int:
        """Number of stored nodes; rows of the sparse strategies are a little longer."""
        return prod(self.part.stored_shape) if self.scheme.cells is None else self.part.fluid_nodes

    def set_populations(self, populations: np.ndarray) -> None:
        """Start from populations f_i of shape (q, nz, ny, nx), before any collision; only before the first step
        and the first look at the flow.

        Shape (q, 1, 1, 1) sets all nodes to the same populations.
        """
        self._require_untouched("populations")
        q, given = self.lattice.q, Numbers().array("populations", populations)
        if given.shape not in ((q, 1, 1, 1), (q, *self.problem.shape[::-1])):
            raise InputError(f"populations of shape {given.shape}: it must be {(q, *self.problem.shape[::-1])}")
        values = (given - self._stored_from) / self._unit
        if given.shape[1:] == self.problem.shape[::-1]:
            values = self._as_stored(values)
        self._set_rows(self.state, values.reshape(q, -1).astype(self.kept))

    def _set_rows(self, array, values: np.ndarray) -> None:
        """Set the stored populations of an array to rows (q, nodes), or (q, 1) for all nodes."""
        rows = self.rows(array)
        shape = rows.shape[1:] if values.shape[1] > 1 else (1,) * (rows.ndim - 1)
        rows[:] = self.device.to_device(values.reshape(-1, *shape))

    def _as_stored(self, values: np.ndarray) -> np.ndarray:
        """Values (..., nz, ny, nx) of all nodes as rows (..., node) of those that are kept here."""
        values = self.share.part(values)
        rows = values.reshape(*values.shape[:-3], -1)
        return rows if self.scheme.cells is None else rows[..., self.scheme.cells]

    @property
    def _stored_from(self) -> np.ndarray:
        """What is taken off populations before they are stored: their weights."""
        return np.array(self.lattice.weights)[:, None, None, None]

    def rows(self, array):
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
            full = np.zeros((self.ROWS, prod(self.part.stored_shape)))
            full[:, self.scheme.cells] = values
            values = full
        return values.reshape(self.ROWS, *self.part.stored_shape[::-1])[self.share.own]

    def fields(self) -> tuple[np.ndarray, np.ndarray]:
        """Density (nz, ny, nx) and velocity (3, nz, ny, nx) on the host, in double precision; 1 and 0 in solid.

        Of several ranks those of the nodes that are this one's own, see `gathered`.
        """
        values = self._field_values()
        return 1 + values[0], values[1:]

    def gathered(self, values: np.ndarray) -> np.ndarray | None:
        """Values (..., nz, ny, nx) of all ranks' own nodes, as `fields` has them, brought together on rank 0; all must
        call it. None on the others; on one rank the values.
        """
        return self.share.gathered(values)

    def require_alone(self, what: str) -> None:
        """Raise InputError on several ranks, for what is made of a whole flow only."""
        require(self.share.alone, f"{what} is made of a flow on one rank: gather the fields of several")

    def _total(self, rows) -> float:
        """The sum of rows (rows, node) over all own nodes of all ranks, in double precision."""
        return float(self.share.sum(np.array([float(self.share.of_own(rows).sum(dtype=np.float64))]))[0])

    def _graph(self, every: int, observers: tuple):
        # messages of hosts are no part of a graph
        return (
            super()._graph(every, observers)
            if self.share.recorded
            else partial(self._launch, self.steps, every, observers)
        )

    def _require_valid(self):
        total = np.float64(self._total(self.rows(self.state)))
        require_finite(total, self.steps, f"{self.problem.description}; {self.ADVICE}")
