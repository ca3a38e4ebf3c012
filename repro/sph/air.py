"""Ghosts in the air as Schechter and Bridson sample them: relaxed Poisson-disc samples around the water's surface.

ACM Trans. Graph. 31 (2012), article 61. Samples are no nearer to each other, nor to the fluid, than a radius, and as
far from the fluid as the support reaches. They are sown as by Bridson (SIGGRAPH 2007 sketches): from each particle, and
then from each new sample, darts are thrown into the shell between one and two radii, and stay where they find room.
Relaxation moves samples one by one to where their nearest neighbour is farther away.

This runs on the host, in NumPy and SciPy, from positions that are the same on every device: so are the samples, bit by
bit. A sampling costs about as much as a hundred steps of a few hundred particles on one core.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.spatial import cKDTree

from repro.declared import Flag, Number, Whole, checked

from .system import System

#: distance in spacings from a wall below which it leaves no room for a sample: there, ghosts in the wall begin
_OFF_WALLS = 0.5

#: radius in spacings and number of particles in it on the lattice; with fewer than this share a particle may see air
_AROUND, _FULL, _ENCLOSED = 2.0, 33, 0.85

#: share of the radius by which relaxation moves a sample at most
_STEP = 0.5


@dataclass(frozen=True)
@checked
class AirSampling:
    """How ghosts in the air are sown."""

    #: least distance in spacings; at 0.82 the particles of a flat surface have the density of rest in the mean
    radius: Annotated[float, Number(0.5, 2)] = 0.82
    #: darts thrown from each particle and each sample
    attempts: Annotated[int, Whole(1, 1000)] = 12
    #: rounds of relaxation
    rounds: Annotated[int, Whole(0, 1000)] = 5
    #: steps from one sampling to the next, during which the samples stand still
    every: Annotated[int, Whole(1, 1 << 30)] = 1
    #: whether samples are carried along with the fluid and kept where they fit, instead of sown anew
    carried: Annotated[bool, Flag()] = False


def most(system: System, sampling: AirSampling) -> int:
    """No more samples than this have room in the tank: spheres packed as densely as can be."""
    radius = sampling.radius
    sides = np.array(system.tank) / system.resolution.spacing + radius
    return int(np.sqrt(2) * np.prod(sides) / radius**3) + 1


def sample(position: np.ndarray, system: System, sampling: AirSampling, number: int, before=None) -> np.ndarray:
    """Samples (count, 3) in m in the air around particles at `position` (count, 3) in m.

    `number` chooses the darts, `before` are samples in m that are kept where they fit.
    """
    spacing = system.resolution.spacing
    space = _Space(position / spacing, np.array(system.tank) / spacing, system.resolution.support / spacing, sampling)
    random = np.random.default_rng(number)
    found = np.zeros((0, 3)) if before is None else _apart(space.fitting(before / spacing), sampling.radius)
    sowing = np.concatenate([space.near_surface(), found])
    while len(sowing):
        darts = space.fitting(_darts(sowing, sampling, random))
        if len(found) and len(darts):
            darts = darts[cKDTree(found).query(darts)[0] >= sampling.radius]
        sowing = _apart(darts, sampling.radius)
        found = np.concatenate([found, sowing])
    for _ in range(sampling.rounds if len(found) > 1 else 0):
        found = _relaxed(found, space, random)
    return found * spacing


class _Space:
    """Where samples may be: off the fluid and the walls, and within the support of some particle. In spacings."""

    def __init__(self, fluid: np.ndarray, tank: np.ndarray, reach: float, sampling: AirSampling):
        self.fluid, self.tank, self.reach, self.radius = fluid, tank, reach, sampling.radius
        self.tree = cKDTree(fluid)

    def near_surface(self) -> np.ndarray:
        """The particles that are not enclosed by others."""
        around = self.tree.query_ball_point(self.fluid, _AROUND, return_length=True)
        return self.fluid[around < _ENCLOSED * _FULL]

    def fits(self, points: np.ndarray) -> np.ndarray:
        """Which points are such places."""
        within = ((points >= _OFF_WALLS) & (points <= self.tank - _OFF_WALLS)).all(1)
        away = np.full(len(points), np.inf)
        away[within] = self.tree.query(points[within], distance_upper_bound=self.reach)[0]
        return (away >= self.radius) & (away < self.reach)

    def fitting(self, points: np.ndarray) -> np.ndarray:
        """Those of the points."""
        return points[self.fits(points)]


def _directions(count: int, random) -> np.ndarray:
    vectors = random.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _darts(sowing: np.ndarray, sampling: AirSampling, random) -> np.ndarray:
    """Points in the shell from one to two radii around each of `sowing`."""
    count = sampling.attempts * len(sowing)
    away = sampling.radius * np.cbrt(random.uniform(1, 8, count))
    return np.repeat(sowing, sampling.attempts, axis=0) + away[:, None] * _directions(count, random)


def _first_of_near(points: np.ndarray, radius: float) -> np.ndarray:
    """Which points stay if, one after the other, each takes its place unless an earlier one is nearer than `radius`."""
    stays = np.ones(len(points), bool)
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray") if len(points) else np.zeros((0, 2), int)
    pairs.sort(axis=1)
    while len(pairs):
        rivalled = np.zeros(len(points), bool)
        rivalled[pairs[:, 1]] = True
        stays[pairs[~rivalled[pairs[:, 0]], 1]] = False
        # what has gone is in nobody's way
        pairs = pairs[stays[pairs].all(1)]
    return stays


def _apart(points: np.ndarray, radius: float) -> np.ndarray:
    return points[_first_of_near(points, radius)]


def _relaxed(samples: np.ndarray, space: _Space, random) -> np.ndarray:
    """Samples of which some have moved to where their nearest neighbour is farther away."""
    order = random.permutation(len(samples))
    # none of those that move sees another one's move
    moving = order[_first_of_near(samples[order], 2 * (1 + _STEP) * space.radius)]
    away = _STEP * space.radius * np.cbrt(random.uniform(0, 1, len(moving)))
    moved = samples[moving] + away[:, None] * _directions(len(moving), random)
    tree = cKDTree(np.concatenate([samples, space.fluid]))
    # the first neighbour of a sample is itself; of where it would be, it may be the first
    distance, number = tree.query(moved, 2)
    found = np.where(number[:, 0] == moving, distance[:, 1], distance[:, 0])
    better = space.fits(moved) & (found > tree.query(samples[moving], 2)[0][:, 1])
    result = samples.copy()
    result[moving[better]] = moved[better]
    return result


def carried(samples: np.ndarray, position: np.ndarray, velocity: np.ndarray, seconds: float) -> np.ndarray:
    """Samples in m after they have gone for so many seconds with the nearest particle's velocity."""
    return samples + seconds * velocity[cKDTree(position).query(samples)[1]] if len(samples) else samples
