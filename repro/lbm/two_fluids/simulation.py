"""Two running fluids: a problem, a device and a strategy."""

import numpy as np

from repro.errors import DivergenceError, InputError

from ..flow import FlowSimulation
from .collision import FIELDS
from .model import TwoFluids
from .strategies import STRATEGIES


class TwoFluidFlow(FlowSimulation):
    """Two fluids, at rest with density 1/2 each at first; arguments as of FlowSimulation."""

    ROWS, PROBLEM, STRATEGIES, DEFAULT = FIELDS, TwoFluids, STRATEGIES, "dense"

    def set_densities(self, density_a, density_b) -> None:
        """Start at rest from densities of shape (nz, ny, nx), or one number each; only before the first step.

        InputError for densities that are not positive in the pores.
        """
        self._require_untouched("densities")
        pores = self._pores()
        given = [self._density_of(name, density) for name, density in (("a", density_a), ("b", density_b))]
        hosts = [np.zeros(len(array), self.dtype) for array in self.state]
        for i, weight in enumerate(self.lattice.weights):
            places = self.scheme.place(i)[pores]
            for host, density in zip(hosts, given, strict=True):
                host[places] = weight * (density - 1)
        for array, host in zip(self.state, hosts, strict=True):
            array[:] = self.device.to_device(host)

    def _density_of(self, name: str, density) -> np.ndarray:
        """A given density in the pores, in the order in which they are kept."""
        solid = self.problem.solid
        values = np.broadcast_to(np.asarray(density, float), solid.shape)[~solid]
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise InputError(f"density of fluid {name}: it must be finite and positive in all pores")
        return values

    def _put_at_rest(self):
        """Density 1/2 of both fluids in all pores: then it does not matter which place is whose."""
        pores = self.device.to_device(self._pores()).astype(self.dtype)
        for array in self.state:
            for row, weight in zip(self._rows(array), self.lattice.weights, strict=True):
                row[:] = pores * self.dtype(weight * (0.5 - 1))

    def _pores(self) -> np.ndarray:
        """Which of the stored nodes are pores."""
        return self._as_stored(~self.problem.solid)

    def fields(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Densities of a and b (nz, ny, nx) and velocity of the mixture (3, nz, ny, nx), equation 2.18, on the host in
        double precision; all 0 in solid."""
        values = self._field_values()
        densities = np.where(self.problem.solid, 0.0, 1 + values[:2])
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
