"""What happens at the six faces of the box (porous paper, section 2.3).

- "periodic": what leaves on one side enters on the other.
- "half-way": a population that would leave the box returns to its node in the opposite direction; the wall lies half a
  spacing outside the node. Second order.
- "modified": the node lies on the wall and collides; what would come from outside is replaced by the opposite
  population at the same node (He, Zou, Luo, Dembo, J. Stat. Phys. 87 (1997) 115). Second order.
- "standard": the node lies in the wall and does not collide; it sends back what it receives. First order when the wall
  is taken to lie on the node.
- "extrapolation": the node lies on the wall; its populations are the equilibrium with the wall's velocity and the
  neighbour's density, plus the neighbour's non-equilibrium (Guo, Zheng, Shi, Chin. Phys. 11 (2002) 366).

Where a moving face meets one at rest, what belongs to both is at rest: the link through the edge ("half-way",
"modified"), the node on it ("standard") or beside it ("extrapolation"). If the edges of a lid moved with it, the flow
would be off by an amount that falls only as the spacing.
"""

from dataclasses import dataclass
from functools import cache
from typing import Annotated

from repro.declared import Each, OneOf, OrNone, Whole, checked
from repro.errors import InputError
from repro.parallel import device_function

from .equilibrium import even, make_moments, odd, pair_constants
from .lattice import Lattice

BOUNCE_BACK = ("half-way", "modified", "standard")
SCHEMES = ("periodic", *BOUNCE_BACK, "extrapolation")
FACES = ("x low", "x high", "y low", "y high", "z low", "z high")


@dataclass(frozen=True)
@checked
class Boundaries:
    """The scheme of each face, in the order of FACES, and which face moves in its own plane (None: no face)."""

    faces: Annotated[tuple[str, str, str, str, str, str], Each(OneOf(SCHEMES), 6)]
    moving: Annotated[int | None, OrNone(Whole(0, 5))] = None

    def __post_init__(self):
        # a model is a key by which kernels are found again
        object.__setattr__(self, "faces", tuple(self.faces))
        for low in (0, 2, 4):
            if (self.faces[low] == "periodic") != (self.faces[low + 1] == "periodic"):
                raise InputError(f"faces {FACES[low]} and {FACES[low + 1]} must be periodic both or neither")
        if self.moving is not None and self.faces[self.moving] == "periodic":
            raise InputError(f"moving face {self.moving}: give the index of a face that is a wall, 0 to 5, or None")
        if len(set(self.faces) & set(BOUNCE_BACK)) > 1:
            raise InputError(f"one kind of bounce-back a box, not {sorted(set(self.faces) & set(BOUNCE_BACK))}")

    def has(self, scheme: str) -> tuple[bool, ...]:
        """For each face whether it has this scheme."""
        return tuple(face == scheme for face in self.faces)


PERIODIC_BOX = Boundaries(("periodic",) * 6)


@device_function
def on_faces(faces, x, y, z, grid):
    """Whether a node lies on one of the faces that are marked."""
    nx, ny, nz, _ = grid
    found = (faces[0] and x == 0) or (faces[1] and x == nx - 1)
    found = found or (faces[2] and y == 0) or (faces[3] and y == ny - 1)
    return found or (faces[4] and z == 0) or (faces[5] and z == nz - 1)


@cache
def make_extrapolation(lattice: Lattice, boundaries: Boundaries, dtype, share: float):
    """What happens at faces with the scheme "extrapolation": (inner, extrapolate).

    inner(x, y, z, grid) is the node whose populations a wall node starts from; extrapolate(s, n, x, y, z, grid, wall,
    force) replaces its equilibrium by that of the wall's velocity. `share` is the force's share in the velocity.
    """
    q, pairs, zero, one = lattice.q, lattice.q // 2, dtype(0), dtype(1)
    three, three_halves = dtype(3), dtype(1.5)
    rest, (weights, cx, cy, cz) = dtype(lattice.weights[0]), pair_constants(lattice, dtype)
    x_low, x_high, y_low, y_high, z_low, z_high = boundaries.has("extrapolation")
    moments = make_moments(lattice, dtype, share)
    # without a moving extrapolated wall the velocity is zero whatever the arguments say
    moving = tuple(face == "extrapolation" and k == boundaries.moving for k, face in enumerate(boundaries.faces))
    still = tuple(face != "periodic" and k != boundaries.moving for k, face in enumerate(boundaries.faces))
    still_left, still_right, resting = still[0], still[1], (False, False, *still[2:])

    solid = boundaries.has("standard")
    some_solid = any(solid)

    @device_function
    def inner(x, y, z, grid):
        nx, ny, nz, _ = grid
        solid_node = some_solid and on_faces(solid, x, y, z, grid)
        xi = 1 if x_low and x == 0 else (nx - 2 if x_high and x == nx - 1 else x)
        yi = 1 if y_low and y == 0 else (ny - 2 if y_high and y == ny - 1 else y)
        zi = 1 if z_low and z == 0 else (nz - 2 if z_high and z == nz - 1 else z)
        return (x if solid_node else xi), (y if solid_node else yi), (z if solid_node else zi)

    @device_function
    def sliding(x, grid):
        # not all runs of nodes end where the box does
        return zero if (still_left and x == 0) or (still_right and x == grid[0] - 1) else one

    @device_function
    def extrapolate(s, n, x, y, z, grid, wall, force):
        moments(s, n, force)
        vx, vy, vz = zero, zero, zero
        if on_faces(moving, x, y, z, grid) and not on_faces(resting, x, y, z, grid):
            vx, vy, vz = wall.x, wall.y, wall.z
        for k in range(n):
            here = sliding(x + k, grid)
            wall_three_halves_u2 = here * three_halves * (vx * vx + vy * vy + vz * vz)
            ux, uy, uz = s[q + 1, k], s[q + 2, k], s[q + 3, k]
            three_halves_u2 = three_halves * (ux * ux + uy * uy + uz * uz)
            s[0, k] += even(rest, s[q, k], zero, wall_three_halves_u2) - even(rest, s[q, k], zero, three_halves_u2)
        for pair in range(pairs):
            i, weight, kx, ky, kz = 2 * pair + 1, weights[pair], cx[pair], cy[pair], cz[pair]
            for k in range(n):
                here = sliding(x + k, grid)
                wall_three_cu = here * three * (kx * vx + ky * vy + kz * vz)
                wall_three_halves_u2 = here * three_halves * (vx * vx + vy * vy + vz * vz)
                fluctuation, ux, uy, uz = s[q, k], s[q + 1, k], s[q + 2, k], s[q + 3, k]
                three_cu = three * (kx * ux + ky * uy + kz * uz)
                three_halves_u2 = three_halves * (ux * ux + uy * uy + uz * uz)
                both = even(weight, fluctuation, wall_three_cu, wall_three_halves_u2)
                both -= even(weight, fluctuation, three_cu, three_halves_u2)
                turned = odd(weight, fluctuation, wall_three_cu) - odd(weight, fluctuation, three_cu)
                s[i, k] += both + turned
                s[i + 1, k] += both - turned

    return inner, extrapolate
