"""Velocity sets. Opposite velocities are neighbours in the list, (1, 2), (3, 4) ..., as in the porous paper."""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, repr=False)
class Lattice:
    """A velocity set with speed of sound 1/sqrt(3): velocities c_i (three components each) and weights w_i."""

    name: str
    dimensions: int
    velocities: tuple[tuple[int, int, int], ...]
    weights: tuple[float, ...]

    def __repr__(self):
        return self.name

    @property
    def q(self) -> int:
        """Number of velocities."""
        return len(self.velocities)

    @cached_property
    def opposite(self) -> tuple[int, ...]:
        """Index of -c_i for each i."""
        return tuple(self.velocities.index(tuple(-c for c in velocity)) for velocity in self.velocities)

    @cached_property
    def components(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The velocities by component: (c_x of all i, c_y of all i, c_z of all i)."""
        return tuple(zip(*self.velocities, strict=True))


def _with_opposites(half: list[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    velocities = [(0, 0, 0)]
    for velocity in half:
        velocities += [velocity, tuple(-c for c in velocity)]
    return tuple(velocities)


_AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
_EDGES = [(1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)]
_CORNERS = [(1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1)]

D2Q9 = Lattice("D2Q9", 2, _with_opposites(_AXES[:2] + _EDGES[:2]), (4 / 9,) + (1 / 9,) * 4 + (1 / 36,) * 4)
D3Q15 = Lattice("D3Q15", 3, _with_opposites(_AXES + _CORNERS), (2 / 9,) + (1 / 9,) * 6 + (1 / 72,) * 8)
D3Q19 = Lattice("D3Q19", 3, _with_opposites(_AXES + _EDGES), (1 / 3,) + (1 / 18,) * 6 + (1 / 36,) * 12)

LATTICES = {lattice.name: lattice for lattice in (D2Q9, D3Q15, D3Q19)}
