"""Two running fluids: a problem, a device and a strategy."""

import warnings

import numpy as np

from repro.errors import DivergenceError, InputError, require

from ..flow import FlowSimulation, on_nodes
from ..model import SPEED_OF_SOUND
from .collision import FIELDS
from .model import ADVICE, TwoFluids, doom
from .strategies import STRATEGIES


class TwoFluidFlow(FlowSimulation):
    """Two fluids, at rest with density 1/2 each at first; arguments as of FlowSimulation."""

    ROWS, PROBLEM, STRATEGIES, DEFAULT = FIELDS, TwoFluids, STRATEGIES, "dense"
    ON_RANKS = ("dense", "sparse")

    def set_densities(self, density_a, density_b, velocity=(0.0, 0.0, 0.0)) -> None:
        """Start from equilibria of densities of shape (nz, ny, nx), or one number each, at one velocity of both fluids.

        `velocity` has the shape (3, nz, ny, nx), or is three numbers. Only before the first step and the first look;
        `fields` adds half of what the forces give in a step. Warns of a start from which none has lasted.
        InputError for other shapes, densities that are not positive in the pores, and velocities of sound or beyond.
        """
        self._require_untouched("densities")
        solid = self.problem.solid
        full = [_density_of(name, density, solid) for name, density in (("a", density_a), ("b", density_b))]
        if why := doom(self.problem, *full):
            warnings.warn(f"two fluids will probably diverge: {why}; {ADVICE}", stacklevel=2)
        velocity = on_nodes("velocity", velocity, solid.shape, (3,))
        require_slow(velocity[:, ~solid], self.lattice)
        pores = self._pores()
        *given, velocity = (self._as_stored(values)[..., pores] for values in (*full, velocity))
        hosts = [np.zeros(len(array), self.dtype) for array in self.state]
        for i, (weight, c) in enumerate(zip(self.lattice.weights, self.lattice.velocities, strict=True)):
            places, along = self.scheme.place(i)[pores], np.array(c, float) @ velocity
            moved = 3 * along + 4.5 * along**2 - 1.5 * (velocity**2).sum(0)
            for host, density in zip(hosts, given, strict=True):
                host[places] = weight * (density - 1 + density * moved)
        for array, host in zip(self.state, hosts, strict=True):
            array[:] = self.device.to_device(host)

    def _put_at_rest(self):
        """Density 1/2 of both fluids in all pores: then it does not matter which place is whose."""
        pores = self.device.to_device(self._pores()).astype(self.dtype)
        for array in self.state:
            for row, weight in zip(self.rows(array), self.lattice.weights, strict=True):
                row[:] = pores * self.dtype(weight * (0.5 - 1))

    def _pores(self) -> np.ndarray:
        """Which of the stored nodes are pores."""
        return self._as_stored(~self.problem.solid)

    def fields(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Densities of a and b (nz, ny, nx) and velocity of the mixture (3, nz, ny, nx), equation 2.18, on the host in
        double precision; all 0 in solid. Of several ranks those of this one's own nodes; all must call it."""
        values = self._field_values()
        densities = np.where(self.part.stored.solid[self.share.own], 0.0, 1 + values[:2])
        return densities[0], densities[1], values[2:]

    def masses(self) -> tuple[float, float]:
        """Mass of each fluid, summed in double precision."""
        pores = self.problem.space.pores
        return tuple(pores + self._total(self.rows(array)) for array in self.state)

    def _require_valid(self):
        densities = self._update_fields()[:2]
        lowest = 1 - self.share.most(-float(self.share.of_own(densities).min()))
        total = self._total(densities)
        if np.isfinite(total) and lowest > 0:
            return
        what = "a density is not finite" if not np.isfinite(total) else f"a density of {lowest:.3g}"
        problem = self.problem
        raise DivergenceError(
            f"the fluids diverged by step {self.steps} ({what}): interaction {problem.interaction:.4g}, wetting "
            f"{problem.wetting}, relaxation times {problem.relaxation_times}, accelerations {problem.accelerations}; "
            f"{ADVICE}, or use smaller accelerations"
        )


def _density_of(name: str, density, solid: np.ndarray) -> np.ndarray:
    """A given density on all nodes, 0 in solid."""
    what = f"density of fluid {name}"
    values = np.where(solid, 0.0, on_nodes(what, density, solid.shape))
    if not (np.isfinite(values).all() and (values[~solid] > 0).all()):
        raise InputError(f"{what}: it must be finite and positive in all pores")
    return values


def require_slow(velocity: np.ndarray, lattice) -> None:
    """Refuse what no equilibrium has: no populations flow out of a layer, and sound is the fastest."""
    fastest = float(np.sqrt((velocity**2).sum(0).max()))
    require(
        fastest < SPEED_OF_SOUND,
        f"velocity: up to {fastest:.3g} in the pores: it must be below that of sound, {SPEED_OF_SOUND:.3f}",
    )
    across = lattice.dimensions == 2 and velocity[2].any()
    require(not across, f"velocity: on {lattice.name} there is none along z")
