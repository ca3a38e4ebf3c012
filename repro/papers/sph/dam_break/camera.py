"""A camera, and what it sees of a closed mesh: the nearest surface and how much lies behind it, pixel by pixel."""

from dataclasses import dataclass

import numpy as np

from repro.papers.rasteriser import box_corners, fragments, view_axes

#: degrees above the tank's middle
ELEVATION = 17.0

#: how far from the middle of the tank it stands, in halves of the tank's diagonal
DISTANCE = 4.0


@dataclass(frozen=True)
class Camera:
    """Sees points in m in perspective; `axes` are the directions right, up and towards it, as rows."""

    eye: np.ndarray
    axes: np.ndarray
    #: pixels that a unit at distance one takes, the place of the middle, and the picture's size
    scale: float
    middle: tuple[float, float]
    shape: tuple[int, int]

    def project(self, points: np.ndarray) -> np.ndarray:
        """Pixels to the right, pixels down and the distance along the view, for points (..., 3)."""
        right, up, towards = np.moveaxis((points - self.eye) @ self.axes.T, -1, 0)
        x, y = self.middle
        return np.stack([x - self.scale * right / towards, y + self.scale * up / towards, -towards], -1)

    def rays(self) -> np.ndarray:
        """Through the middle of each pixel, of length one along the view: (height, width, 3)."""
        x, y = (np.arange(n) + 0.5 for n in self.shape[::-1])
        right, up = (x - self.middle[0]) / self.scale, (self.middle[1] - y) / self.scale
        across = right[None, :, None] * self.axes[0] + up[:, None, None] * self.axes[1]
        return across - self.axes[2]


def looking_at(tank, width: int) -> Camera:
    """A camera that has the whole tank in a picture `width` pixels wide."""
    axes, centre = view_axes(ELEVATION), np.array(tank) / 2
    eye = centre + DISTANCE * np.linalg.norm(centre) * axes[2]
    plain = Camera(eye, axes, 1.0, (0.0, 0.0), (1, 1)).project(box_corners(tank))[:, :2]
    low, high = plain.min(0), plain.max(0)
    scale = 0.98 * width / (high[0] - low[0])
    height = 2 * int(np.ceil(scale * (high[1] - low[1]) / 0.98 / 2))
    middle = np.array([width, height]) / 2 - scale * (low + high) / 2
    return Camera(eye, axes, scale, tuple(middle), (height, width))


@dataclass(frozen=True)
class Seen:
    """Of each pixel: the distance along the view to the nearest surface (infinite where there is none), the normal
    there, and how much of the view lies within the mesh."""

    distance: np.ndarray
    normal: np.ndarray
    thickness: np.ndarray


def see(corners: np.ndarray, triangles: np.ndarray, normals: np.ndarray, camera: Camera) -> Seen:
    """A closed mesh as the camera sees it; triangles that face it begin water, the others end it."""
    height, width = camera.shape
    distance, thickness = np.full(height * width, np.inf), np.zeros(height * width)
    normal = np.zeros((height * width, 3))
    points = camera.project(corners)
    # far to near, so that of several that are drawn into one pixel at once the nearest comes last
    triangles = triangles[np.argsort(-points[triangles, 2].sum(axis=1))]
    for place, which, shares, front in fragments(points[triangles], camera.shape, 0.0):
        # what is linear in a picture is the inverse of the distance
        far = 1 / (shares / points[triangles[which], 2]).sum(axis=1)
        thickness += np.bincount(place, np.where(front, -far, far), len(thickness))
        wins = front & (far < distance[place])
        place, which, shares = place[wins], which[wins], shares[wins]
        distance[place] = far[wins]
        normal[place] = np.einsum("ncd,nc->nd", normals[triangles[which]], shares)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    return Seen(distance.reshape(camera.shape), normal.reshape(*camera.shape, 3), thickness.reshape(camera.shape))
