"""Bodies in three dimensions as an image: the surfaces of fields, cut open, with a z-buffer and lights.

What matplotlib draws of many triangles is sorted by triangle and has white seams; here every pixel is decided alone.
"""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage
from skimage.measure import marching_cubes

from repro.errors import require_whole

#: degrees: the camera stands right of the front (low y) and above
AZIMUTH, ELEVATION = -62.0, 24.0

#: directions to the lights as the camera sees them (right, up, towards it), and how bright they are
LIGHTS = (((-0.35, 0.6, 0.72), 0.62), ((0.6, -0.1, 0.8), 0.22))
AMBIENT, GLOSS, SHININESS, HOLLOWS = 0.42, 0.22, 30, 0.45

#: pixels are averaged over squares of so many
SAMPLES = 2


@dataclass(frozen=True)
class Body:
    """What is inside where `field`, of shape (nz, ny, nx), is positive, as far as x = `end` in whole voxels."""

    field: np.ndarray
    #: red, green, blue from 0 to 1
    colour: tuple[float, float, float]
    end: float


def picture(bodies: list[Body], width: int) -> np.ndarray:
    """The bodies, in boxes of the same shape, as an image (height, width, 3) on white, in parallel projection.

    They are closed where the box ends, and where they are cut.
    """
    require_whole("width in pixels", width, 32, 8192)
    box = np.array(bodies[0].field.shape[::-1]) - 1.0
    view, origin, rows = _frame(box, SAMPLES * width)
    height = int(np.ceil(rows / SAMPLES)) * SAMPLES
    shape = height, SAMPLES * width
    # of each pixel how near it is (minus infinity: nothing there), its normal and its colour
    depth, (normals, colours) = np.full(height * shape[1], -np.inf), np.zeros((2, height * shape[1], 3))
    for body in bodies:
        points, corner_normals = _surface(body, view, origin)
        # on an edge both neighbours may draw, but one must
        for place, which, shares, _ in fragments(points, shape, -1e-6):
            near = (points[which, :, 2] * shares).sum(axis=1)
            # where bodies are cut by one plane, rounding must not decide
            wins = near > depth[place] + 1e-6
            place, which, shares = place[wins], which[wins], shares[wins]
            depth[place], colours[place] = near[wins], body.colour
            normals[place] = np.einsum("ncd,nc->nd", corner_normals[which], shares)
    image = _lit(depth.reshape(shape), normals.reshape(*shape, 3), colours.reshape(*shape, 3))
    return image.reshape(height // SAMPLES, SAMPLES, width, SAMPLES, 3).mean(axis=(1, 3))


def box_corners(box) -> np.ndarray:
    """The eight corners of a box, (8, 3); bit k of a corner's number says whether it lies at the end of axis 2 - k."""
    return np.array(np.meshgrid(*((0.0, extent) for extent in box), indexing="ij")).reshape(3, -1).T


def _frame(box, width: float):
    """From voxels to pixels to the right, pixels down and pixels towards the camera: matrix, origin; and the height."""
    axes = view_axes()
    ends = box_corners(box) @ axes.T
    low, high = ends.min(axis=0), ends.max(axis=0)
    scale = width / (high[0] - low[0])
    return scale * axes * ((1,), (-1,), (1,)), scale * np.array([-low[0], high[1], 0.0]), scale * (high[1] - low[1])


def box_edges(shape, width: int) -> list[tuple[int, np.ndarray]]:
    """The edges of a box of `shape` (nz, ny, nx) that `picture` shows, but the three that the box itself would hide.

    Each as its axis, 0 for x, and both ends in pixels, (2, 2): right, then down. The first of each axis is the one to
    write beside: at the lower or the left outline.
    """
    box = np.array(shape[::-1]) - 1.0
    view, origin, _ = _frame(box, width)
    corners = box_corners(box)
    hidden = corners[(corners @ view[2]).argmin()]
    found = []
    for axis in range(3):
        starts = [c for c in corners if c[axis] == 0 and (np.delete(c, axis) != np.delete(hidden, axis)).any()]
        edges = [np.array([start, start + box * (np.arange(3) == axis)]) @ view.T + origin for start in starts]
        outwards = (lambda edge: edge[:, 0].sum()) if axis == 2 else (lambda edge: -edge[:, 1].sum())
        found += [(axis, edge[:, :2]) for edge in sorted(edges, key=outwards)]
    return found


def across(axis: int) -> tuple[float, float]:
    """How a picture shows a unit along an axis, 0 for x: (right, up)."""
    return tuple(float(part) for part in view_axes()[:2, axis])


def view_axes(elevation: float = ELEVATION) -> np.ndarray:
    """Right, up and towards the camera, as rows."""
    a, e = np.radians((AZIMUTH, elevation))
    towards = np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)
    return np.array([(-np.sin(a), np.cos(a), 0), (-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)), towards])


def _surface(body: Body, view: np.ndarray, origin: np.ndarray):
    """The triangles of a body that face the camera, in pixels, and the normals at their corners: both (count, 3, 3).

    Far to near, so that of several that are drawn into one pixel at once the nearest comes last.
    """
    kept = np.asarray(body.field[..., : int(body.end) + 1], np.float32)
    if kept.max() <= 0:
        return np.empty((0, 3, 3)), np.empty((0, 3, 3))
    # far outside beyond its ends, so that the surface closes there, flat
    corners, triangles, normals, _ = marching_cubes(np.pad(kept, 1, constant_values=-1e6), 0.0)
    corners = np.clip(corners - 1, 0, np.array(kept.shape) - 1)[:, ::-1] @ view.T + origin
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    triangles = triangles[_cross(b - a, c - a) < 0]
    triangles = triangles[np.argsort(corners[triangles, 2].sum(axis=1))]
    return corners[triangles], normals[triangles][..., ::-1]


def fragments(points: np.ndarray, shape, least: float):
    """Yield the pixels of triangles (count, 3, 3) in some turns: (pixel, triangle, shares of its corners, whether it
    faces the camera).

    Where a pixel of a picture of `shape` (height, width) belongs to a triangle, no share is below `least`. All
    triangles are treated at once, one pixel of each at a time: first the first of its bounding box.
    """
    height, width = shape
    first = np.maximum(np.ceil(points[..., :2].min(axis=1) - 0.5), 0).astype(int)
    last = np.minimum(np.floor(points[..., :2].max(axis=1) - 0.5), (width - 1, height - 1)).astype(int)
    extent, (start, right, down, whole) = last - first + 1, _shares(points[..., :2], first + 0.5)
    extent[whole == 0] = 0
    for dy in range(extent[:, 1].max(initial=0)):
        rows = np.flatnonzero(extent[:, 1] > dy)
        for dx in range(extent[rows, 0].max(initial=0)):
            rows = rows[extent[rows, 0] > dx]
            shares = start[rows] + dx * right[rows] + dy * down[rows]
            inside = (shares >= least).all(axis=1)
            which = rows[inside]
            place = (first[which, 1] + dy) * width + first[which, 0] + dx
            yield place, which, shares[inside], whole[which] < 0


def _shares(points: np.ndarray, place: np.ndarray):
    """Barycentric coordinates of a place in each triangle, how they change to the right and down: (count, 3) each; and
    twice the triangles' areas, negative if they turn left as pixels are counted.

    A coordinate is the share of a corner; all are positive inside.
    """
    a, b, c = (points[:, k] - place for k in range(3))
    whole = _cross(b - a, c - a)
    start = np.stack([_cross(b, c), _cross(c, a), _cross(a, b)], 1)
    right, down = (np.stack([(b - c)[:, k], (c - a)[:, k], (a - b)[:, k]], 1) for k in (1, 0))
    divisor = np.where(whole == 0, 1, whole)[:, None]
    return start / divisor, right / divisor, -down / divisor, whole


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _lit(depth: np.ndarray, normals: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Colours under the lights (Blinn and Phong), darker in hollows, where what is around lies nearer."""
    drawn, normals = np.isfinite(depth), normals @ view_axes().T
    normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-9)
    light, gloss = np.full(drawn.shape, AMBIENT), np.zeros(drawn.shape)
    for direction, strength in LIGHTS:
        towards = np.array(direction) / np.linalg.norm(direction)
        half = np.add(towards, (0, 0, 1))
        light += strength * np.maximum(normals @ towards, 0)
        gloss += GLOSS * strength * np.maximum(normals @ half / np.linalg.norm(half), 0) ** SHININESS
    light *= 1 - HOLLOWS * _hollow(depth, drawn)
    return np.where(drawn[..., None], np.clip(colours * light[..., None] + gloss[..., None], 0, 1), 1.0)


def _hollow(depth: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """From 0 to 1: how far a pixel lies behind the mean of those around it (unsharp masking of the depth)."""
    reach = depth.shape[1] / 60
    known = np.where(drawn, depth, 0.0)
    share = ndimage.gaussian_filter(drawn.astype(float), reach)
    mean = ndimage.gaussian_filter(known, reach) / np.maximum(share, 1e-3)
    return np.clip((mean - known) / (2 * reach), 0, 1) * drawn
