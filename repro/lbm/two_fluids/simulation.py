"""Two running fluids: a problem, a device and a strategy."""

from typing import Annotated

import numpy as np

from repro.declared import Kind, OneOf, checked
from repro.errors import DivergenceError, InputError
from repro.parallel.options import Block, OnDevice, Precision

from ..flow import FlowSimulation
from ..lattice import D3Q19
from .model import TwoFluids
from .node import FIELDS
from .strategies import STRATEGIES


class TwoFluidFlow(FlowSimulation):
    """The two fluids of `problem` in lattice units, at rest with density 1/2 each at first.

    `device` comes from `repro.parallel.select`, `strategy` is a key of STRATEGIES, `precision` "single" or "double",
    `block` the threads a block on a GPU. Raises InputError for what cannot work and MemoryLimitError before allocating
    what does not fit.
    """

    ROWS, STRATEGIES = FIELDS, STRATEGIES

    @checked
    def __init__(
        self,
        problem: Annotated[TwoFluids, Kind(TwoFluids)],
        device: OnDevice,
        *,
        strategy: Annotated[str, OneOf(STRATEGIES)] = "dense",
        precision: Precision = "single",
        block: Block = 128,
    ):
        super().__init__(problem, device, strategy, precision, block)
        self._fill(0.5)

    def set_densities(self, density_a, density_b) -> None:
        """Start at rest from densities of shape (nz, ny, nx), or one number each; only before the first step.

        InputError for densities that are not positive in the pores.
        """
        self._require_untouched("densities")
        solid, cells = self.problem.space.solid.ravel(), self.scheme.cells
        pores = ~solid if cells is None else slice(None)
        given = [self._density_of(name, density) for name, density in (("a", density_a), ("b", density_b))]
        hosts = [np.zeros(len(array), self.dtype) for array in self.state]
        for i, weight in enumerate(D3Q19.weights):
            places = self.scheme.place(i)[pores]
            for host, density in zip(hosts, given, strict=True):
                host[places] = weight * (density - 1)
        for array, host in zip(self.state, hosts, strict=True):
            array[:] = self.device.to_device(host)

    def _density_of(self, name: str, density) -> np.ndarray:
        """A given density in the pores, in the order in which they are kept."""
        solid, cells = self.problem.space.solid, self.scheme.cells
        given = np.broadcast_to(np.asarray(density, float), solid.shape)
        values = given[~solid] if cells is None else given.ravel()[cells]
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise InputError(f"density of fluid {name}: it must be finite and positive in all pores")
        return values

    def _fill(self, density: float):
        """The same density of both fluids in all pores: then it does not matter which place is whose."""
        solid, dense = self.problem.space.solid, self.scheme.cells is None
        pores = self.device.to_device(~solid.ravel()).astype(self.dtype) if dense else 1
        for array in self.state:
            for row, weight in zip(self._rows(array), D3Q19.weights, strict=True):
                row[:] = pores * self.dtype(weight * (density - 1))

    def fields(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Densities of a and b (nz, ny, nx) and velocity of the mixture (3, nz, ny, nx), equation 2.18, on the host in
        double precision; all 0 in solid."""
        values = self._field_values()
        densities = np.where(self.problem.space.solid, 0.0, 1 + values[:2])
        return densities[0], densities[1], values[2:]

    def masses(self) -> tuple[float, float]:
        """Mass of each fluid, summed in double precision."""
        pores = self.problem.space.pores
        return tuple(pores + float(array.sum(dtype=np.float64)) for array in self.state)

    def _require_valid(self):
        densities = self._update_fields()[:2]
        lowest = 1 + self.device.to_host(densities.min(axis=1)).astype(float)
        total = float(densities.sum(dtype=np.float64))
        if np.isfinite(total) and (lowest > 0).all():
            return
        what = "a density is not finite" if not np.isfinite(total) else f"a density of {lowest.min():.3g}"
        problem = self.problem
        raise DivergenceError(
            f"the fluids diverged by step {self.steps} ({what}): interaction {problem.interaction:.4g}, wetting "
            f"{problem.wetting}, relaxation times {problem.relaxation_times}, accelerations {problem.accelerations}; "
            "use a weaker interaction or wetting, or smaller accelerations"
        )
