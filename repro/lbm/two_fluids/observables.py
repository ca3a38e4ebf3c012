"""What is read off two fluids at rest: a bubble's radius, pressure and shape, a drop's contact angle."""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import map_coordinates
from scipy.optimize import least_squares
from skimage.measure import find_contours

from repro.errors import InputError, require

from .simulation import TwoFluidFlow

#: nodes on each side of the middle, and from each corner, over which the densities of the phases are averaged
_CORE = 3

#: heights over the plate below which a drop's surface is left out: there the wall bends it (nodes)
_BENT = 4.0


class BubbleState(NamedTuple):
    """A bubble in the middle of a box; lengths in nodes, the rest in lattice units."""

    #: of the circle or sphere that holds the masses: of a beyond what is dissolved outside, and of b that is missing
    #: inside. Of a alone it would lie inside the interface, of b alone outside, because both thin out in between
    radius: float
    #: inside less outside
    pressure_difference: float
    #: largest less smallest distance of the surface from the middle, over the radius
    anisotropy: float
    #: largest velocity: at rest there should be none
    spurious_velocity: float
    #: densities (a, b) inside and outside
    inside: tuple[float, float]
    outside: tuple[float, float]

    @property
    def tension(self) -> float:
        """Pressure difference times radius: the surface tension of a circle, twice that of a sphere (equation 6.1)."""
        return self.pressure_difference * self.radius


def bubble_state(flow: TwoFluidFlow) -> BubbleState:
    """Measure a bubble of fluid a in the middle of a periodic box, on one layer of nodes (a circle) or in 3-D.

    InputError where there is no bubble any more, and for a flow on several ranks.
    """
    flow.require_alone("the state of a bubble")
    a, b, velocity = flow.fields()
    middle = tuple(slice(n // 2 - _CORE, n // 2 + _CORE) if n > 1 else slice(None) for n in a.shape)
    corner = tuple(slice(0, _CORE) if n > 1 else slice(None) for n in a.shape)
    inside, outside = ((float(a[place].mean()), float(b[place].mean())) for place in (middle, corner))
    excess, beyond = inside[0] - inside[1], outside[0] - outside[1]
    if not excess > 0 > beyond:
        raise InputError(f"there is no bubble of fluid a in the middle after {flow.steps} steps: it has dissolved")
    surplus = float((a - b - beyond).sum()) / (excess - beyond)
    flat = a.shape[0] == 1
    radius = np.sqrt(surplus / np.pi) if flat else np.cbrt(3 * surplus / (4 * np.pi))
    pressure = flow.problem.pressure
    return BubbleState(
        float(radius),
        float(pressure(*inside) - pressure(*outside)),
        _anisotropy(a - b, radius),
        float(np.sqrt((velocity**2).sum(axis=0)).max()),
        inside,
        outside,
    )


def _anisotropy(difference: np.ndarray, radius: float) -> float:
    """Spread of the distances, along a few rays, at which a - b changes its sign, over the radius."""
    centre = (np.array(difference.shape) - 1) / 2
    directions = [(0, 0, 1), (0, 1, 1), (0, 1, 2), (0, 1, 3)]
    if difference.shape[0] > 1:
        directions += [(1, 1, 1), (1, 1, 2), (1, 2, 2)]
    along = np.linspace(0.5 * radius, min(1.5 * radius, centre[2]), 400)
    distances = []
    for direction in directions:
        ray = centre[:, None] + np.array(direction)[:, None] / np.linalg.norm(direction) * along
        values = map_coordinates(difference, ray, order=1, mode="grid-wrap")
        behind = np.nonzero(values <= 0)[0]
        if len(behind) == 0 or behind[0] == 0:
            return float("nan")
        k = behind[0]
        share = values[k - 1] / (values[k - 1] - values[k])
        distances.append(along[k - 1] + share * (along[k] - along[k - 1]))
    return float((max(distances) - min(distances)) / radius)


class ContactAngle(NamedTuple):
    """A circle fitted to the surface of a drop on a plate; lengths in nodes, heights from the plate's surface."""

    #: degrees, measured through the drop; NaN where the circle meets the plate along no line, see `why`
    angle: float
    radius: float
    #: height of the circle's centre
    height: float
    #: root mean square distance of the surface from the circle
    residual: float
    #: points of the surface, (x, height), and which of them were fitted
    surface: np.ndarray
    fitted: np.ndarray

    @property
    def why(self) -> str:
        """Why there is no angle; empty where there is one."""
        if np.isfinite(self.angle):
            return ""
        return "the drop has left the plate" if self.height > 0 else "the drop covers the plate"


def contact_angle(density_a: np.ndarray, density_b: np.ndarray) -> ContactAngle:
    """Fit a circle to a drop of fluid a on the lower of two plates, see `cases.Drop`.

    Densities of shape (1, height + 2, length), the plates the first and the last row; a plate's surface lies half a
    spacing off its nodes. The points next to the plates, where they bend the surface or are covered by a film, are left
    out. InputError where there is no drop.
    """
    x, height = _surface(density_a[0] - density_b[0])
    free = height < density_a.shape[1] - 2 - _BENT
    x, height = x[free], height[free]
    top = height.max(initial=0.0)
    # a flat drop keeps half of its points
    fitted = height > min(_BENT, 0.5 * top)
    require(np.count_nonzero(fitted) >= 5, "there is no drop of fluid a on the lower plate")
    middle = x[fitted].mean()

    def distance(circle):
        centre, radius = circle
        return np.hypot(x[fitted] - middle, height[fitted] - centre) - radius

    start = [0.0, max(top, np.ptp(x) / 2)]
    (centre, radius), residual = (found := least_squares(distance, start)).x, float(np.sqrt(2 * found.cost))
    residual /= np.sqrt(np.count_nonzero(fitted))
    return ContactAngle(
        _angle_at_plate(centre, radius), float(radius), float(centre), residual, np.stack([x, height], axis=1), fitted
    )


def _angle_at_plate(height: float, radius: float) -> float:
    """Angle in degrees at which a circle meets the plate; NaN where it lies above, below or only touches it."""
    return float(np.degrees(np.arccos(-height / radius))) if abs(height) < radius else float("nan")


def _surface(difference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(x, height) of the points between two nodes of a row, or of a column, where a - b changes its sign."""
    # a closed line ends with the point that it began with
    lines = find_contours(difference[1:-1], 0.0) or [np.empty((0, 2))]
    height, x = np.unique(np.concatenate(lines), axis=0).T
    return x, height + 0.5
