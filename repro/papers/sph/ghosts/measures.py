"""What a boundary does to the water, in numbers: densities that lack something, roughness, particles beyond walls."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from repro.sph.observables import beyond_walls, density_deficit, front, wall_unevenness
from repro.sph.stability_checks import THROUGH
from repro.sph.surface import reconstruct, roughness
from repro.sph.system import System

#: how the treatments of the boundaries in repro.sph.ghosts.BOUNDARIES are called in tables, figures and sentences
NAMES = {"ghosts": "with ghosts", "none": "without ghosts", "clamped": "without ghosts, density clamped"}

#: spacings to the nearest particle from which on a place in the tank is air: the site over a lattice's last layer has
#: 1, and a hole in the lattice 0.87
AIR = 0.95

#: nodes of the kernel's table for sums on the host: errors are below a millionth
_NODES = 4001

#: where a deficit is told, and the columns of tables for it
PLACES = ("near walls", "near the surface", "inside")


@dataclass(frozen=True)
class Look:
    """Water at one time: the arrays of `Simulation.particles()`, and what equation 3 gives for them."""

    system: System
    particles: dict[str, np.ndarray]
    #: (rho - rho0) / rho0 by equation 3 with the ghosts that the run has
    summed: np.ndarray
    #: seconds, of the last step
    time: float
    #: places of ghosts in the air in m, (n, 3), that `summed` counts
    air: np.ndarray

    @property
    def position(self) -> np.ndarray:
        """(count, 3) in m."""
        return self.particles["position"]


def fluid_alone(position: np.ndarray, system: System) -> np.ndarray:
    """(rho - rho0) / rho0 by equation 3 from the particles at `position` in m alone, without ghosts; on the host."""
    return weights(position, position, system) - 1


def weights(here: np.ndarray, there: np.ndarray, system: System) -> np.ndarray:
    """Equation 3 over rho0 at places (count, 3) in m, of particles at `there` (n, 3); on the host, to a millionth."""
    h, kernel = system.resolution.smoothing_length, system.resolution.smoothing_kernel
    node, (shape, _) = np.linspace(0, kernel.support, _NODES), kernel.shape(float)
    near = cKDTree(here).sparse_distance_matrix(cKDTree(there), kernel.support * h, output_type="ndarray")
    weight = np.interp(near["v"] / h, node, [shape(q) for q in node])
    sums = np.bincount(near["i"], weight, len(here))
    return sums * system.mass * kernel.norm / (system.fluid.density * h**3)


def sees_air(position: np.ndarray, system: System) -> np.ndarray:
    """Which particles have air within their support, by where the others are and not by a density.

    Air is every site of the lattice in the tank at least `AIR` spacings from the nearest particle.
    """
    spacing = system.resolution.spacing
    counts = [round(side / spacing) for side in system.tank]
    site, tree = (np.indices(counts).reshape(3, -1).T + 0.5) * spacing, cKDTree(position)
    # a site that is farther than that from all particles is seen by none
    near = tree.query(site, distance_upper_bound=system.resolution.support)[0]
    air = site[(near >= AIR * spacing) & np.isfinite(near)]
    if not len(air):
        return np.zeros(len(position), bool)
    return cKDTree(air).query(position)[0] < system.resolution.support


def deficits(look: Look) -> dict[str, dict[str, float]]:
    """Root mean squares of what equation 3 lacks of rho0 by place in PLACES, and of what it has too much.

    "counted" with the run's ghosts, "not counted" of the same particles without any, "excess" with them.
    """
    surface = sees_air(look.position, look.system)
    alone = fluid_alone(look.position, look.system)
    kinds = {"counted": look.summed, "not counted": alone, "excess": -look.summed}
    found = {kind: density_deficit(s, look.particles, look.system, surface) for kind, s in kinds.items()}
    return {kind: dict(zip(PLACES, values, strict=True)) for kind, values in found.items()}


def shape(look: Look) -> dict[str, float]:
    """Roughness of the surface, unevenness along walls in spacings, front in m, particles on walls, beyond and lost."""
    system, beyond = look.system, beyond_walls(look.particles, look.system)
    return {
        "surface": roughness(reconstruct(look.position, system), system),
        "walls": wall_unevenness(look.particles, system),
        "front": front(look.particles, system),
        # what is put back onto a wall lies on it but for rounding
        "on walls": float((beyond > -1e-3).mean()),
        "beyond": float(beyond.max()),
        "lost": int((beyond > THROUGH).sum()),
    }


def table(looks: dict[str, list[Look]]) -> pd.DataFrame:
    """One row a run and seed: `boundary`, `seed` (their number), deficits as "counted near walls", and `shape`."""
    rows = []
    for name, found in looks.items():
        for seed, look in enumerate(found):
            parts = {f"{kind} {place}": value for kind, at in deficits(look).items() for place, value in at.items()}
            rows.append({"boundary": name, "seed": seed, **parts, **shape(look)})
    return pd.DataFrame(rows)


def pair_of(table: pd.DataFrame, column: str) -> tuple[pd.Series, pd.Series]:
    """A column of `table` with ghosts and without them, a value a seed each."""
    return tuple(table.loc[table["boundary"] == NAMES[name], column] for name in ("ghosts", "none"))


def missing(table: pd.DataFrame, place: str) -> dict:
    """What equation 3 lacks at a place with ghosts and without, in %; holds if ghosts halve it, whichever the seeds."""
    ours, others = pair_of(table, f"counted {place}")
    return {"ours": 100 * ours.mean(), "others": 100 * others.mean(), "holds": ours.max() <= others.min() / 2}


def headline(table: pd.DataFrame) -> str:
    """What equation 3 lacks near walls with ghosts and without, in a sentence."""
    walls = missing(table, PLACES[0])
    lacks = f"{walls['ours']:.2g} % of the water's density with ghosts there, and {walls['others']:.2g} % without"
    return f"Near walls the sum over neighbours lacks {lacks}."


def without_counting(table: pd.DataFrame) -> dict:
    """What particles that moved with ghosts lack if these are not counted, in %, near walls and near the surface.

    Holds if more than half of what ghosts make up for is missing again, at the same positions.
    """
    alone = [100 * pair_of(table, f"not counted {place}")[0].mean() for place in PLACES[:2]]
    both = [missing(table, place) for place in PLACES[:2]]
    filled = [a - m["ours"] > (m["others"] - m["ours"]) / 2 for a, m in zip(alone, both, strict=True)]
    return {"walls": alone[0], "surface": alone[1], "holds": all(filled)}


def smoother(ours: pd.Series, others: pd.Series) -> dict:
    """Means of values with ghosts and without; holds if they are less with ghosts, whichever seeds one compares."""
    return {"ours": ours.mean(), "others": others.mean(), "holds": bool(ours.max() < others.min())}


def distance(one: Look, other: Look) -> float:
    """The largest distance in spacings between the places of one particle in two runs."""
    apart = np.linalg.norm(one.position - other.position, axis=1)
    return float(apart.max() / one.system.resolution.spacing)


def same_bits(one: Look, other: Look) -> bool:
    """Whether positions, velocities, accelerations and densities of two runs are the same to the last bit."""
    return all(np.array_equal(one.particles[name], other.particles[name]) for name in one.particles)
