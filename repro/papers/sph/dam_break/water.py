"""Water in a glass tank as an image: refraction of what is behind it, reflection of a sky, colour by its thickness.

What matplotlib draws of many triangles is sorted by triangle and has white seams; here every pixel is decided alone.
"""

import numpy as np

from repro.papers.rasteriser import box_corners
from repro.sph.surface import Surface

from .camera import Camera, Seen, looking_at, see

#: of water against air, and the share that is reflected at right angles (Schlick's approximation of Fresnel's)
INDEX, REFLECTANCE = 1.33, 0.02

#: how fast red, green and blue fade per depth of the tank, and the colour of what light the water scatters
FADING, DEEP = np.array([1.4, 0.5, 0.18]), np.array([0.03, 0.20, 0.38])

#: direction to the light, and how strong and how sharp its gloss is
LIGHT, GLOSS, SHININESS = np.array([-0.45, -0.55, 0.9]), 0.55, 90

#: tiles on floor and walls, their joints, the horizon, the zenith, and what an upward face reflects from below
TILE, JOINT = np.array([0.93, 0.935, 0.94]), np.array([0.78, 0.80, 0.82])
HORIZON, ZENITH, BELOW = np.array([0.97, 0.98, 1.0]), np.array([0.62, 0.78, 0.93]), np.array([0.7, 0.74, 0.78])

#: colour of the tank's edges, and how thick they are over the picture's width
EDGE, THICKNESS = np.array([0.25, 0.28, 0.32]), 1 / 700

#: pixels are averaged over squares of so many
SAMPLES = 2


def picture(surface: Surface, tank, width: int, tile: float) -> np.ndarray:
    """The surface in its tank as an image (height, width, 3) on white; tiles are `tile` m wide."""
    camera = looking_at(tank, SAMPLES * width)
    seen = see(*surface, camera)
    rays, tank = camera.rays(), np.array(tank)
    image = _behind(np.broadcast_to(camera.eye, rays.shape), rays, tank, tile, outside=1.0)
    wet = np.isfinite(seen.distance)
    image[wet] = _water(seen, wet, camera, rays, tank, tile)
    _draw_edges(image, seen.distance, camera, tank)
    height, width = camera.shape
    return image.reshape(height // SAMPLES, SAMPLES, width // SAMPLES, SAMPLES, 3).mean(axis=(1, 3))


def _water(seen: Seen, wet: np.ndarray, camera: Camera, rays: np.ndarray, tank: np.ndarray, tile: float) -> np.ndarray:
    """Colours of the pixels where there is water."""
    normal, ray = seen.normal[wet], rays[wet]
    length = np.linalg.norm(ray, axis=1)
    point, view = camera.eye + ray * seen.distance[wet, None], ray / length[:, None]
    facing = np.clip(-(normal * view).sum(1), 0, 1)[:, None]
    through = _refracted(view, normal, facing)
    behind = _behind(point, through, tank, tile, outside=HORIZON)
    thickness = (np.maximum(seen.thickness[wet], 0) * length / tank[1])[:, None]
    kept = np.exp(-FADING * thickness)
    light = LIGHT / np.linalg.norm(LIGHT)
    lit = 0.82 + 0.18 * np.clip(normal @ light, 0, 1)[:, None]
    body = lit * (behind * kept + DEEP * (1 - kept))
    mirrored = view + 2 * facing * normal
    share = REFLECTANCE + (1 - REFLECTANCE) * (1 - facing) ** 5
    half = light - view
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    gloss = GLOSS * np.clip((normal * half).sum(1), 0, 1)[:, None] ** SHININESS
    return np.clip(body * (1 - share) + share * _sky(mirrored) + gloss, 0, 1)


def _refracted(view: np.ndarray, normal: np.ndarray, facing: np.ndarray) -> np.ndarray:
    """Directions behind the surface (Snell's law)."""
    inner = np.sqrt(1 - (1 - facing**2) / INDEX**2)
    return view / INDEX + (facing / INDEX - inner) * normal


def _sky(direction: np.ndarray) -> np.ndarray:
    """The colour from which light comes."""
    height = direction[:, 2:]
    above = HORIZON + (ZENITH - HORIZON) * np.clip(height, 0, 1) ** 0.6
    return np.where(height > 0, above, HORIZON + (BELOW - HORIZON) * np.clip(-3 * height, 0, 1))


def _behind(start: np.ndarray, ray: np.ndarray, tank: np.ndarray, tile: float, outside) -> np.ndarray:
    """Colours of the tiles that rays meet: the floor, the wall at the back (high y) and the one on the left (x = 0)."""
    colour = np.ones((*ray.shape[:-1], 3)) * outside
    nearest = np.full(ray.shape[:-1], np.inf)
    for axis, place, shade in ((2, 0.0, 1.0), (1, tank[1], 0.97), (0, 0.0, 0.92)):
        with np.errstate(divide="ignore", invalid="ignore"):
            far = (place - start[..., axis]) / ray[..., axis]
        met = start + far[..., None] * ray
        others = [k for k in range(3) if k != axis]
        slack = 1e-6 * tank.max()
        hit = (far >= 0) & (far < nearest)
        for k in others:
            hit &= (met[..., k] >= -slack) & (met[..., k] <= tank[k] + slack)
        nearest[hit] = far[hit]
        joint = np.max([_joint(met[hit][:, k], tile) for k in others], axis=0)[:, None]
        colour[hit] = shade * (TILE + (JOINT - TILE) * joint)
    return colour


def _joint(along: np.ndarray, tile: float) -> np.ndarray:
    """From 0 on a tile to 1 on a joint."""
    off = np.abs((along / tile + 0.5) % 1 - 0.5)
    return np.clip(1.5 - off / 0.02, 0, 1)


def _draw_edges(image: np.ndarray, distance: np.ndarray, camera: Camera, tank: np.ndarray) -> None:
    """The tank's twelve edges, those behind the water faint."""
    corners = box_corners(tank)
    ends = [(corners[n], corners[n | 1 << k]) for n in range(8) for k in range(3) if not n >> k & 1]
    height, width = camera.shape
    share = np.linspace(0, 1, 3 * width)[:, None]
    radius = max(1, round(width * THICKNESS / 2))
    hidden, open_ = np.zeros((2, height, width), bool)
    for a, b in ends:
        x, y, far = camera.project(a + share * (b - a)).T
        for dx in range(-radius, radius):
            for dy in range(-radius, radius):
                column = np.clip(np.round(x + dx), 0, width - 1).astype(int)
                row = np.clip(np.round(y + dy), 0, height - 1).astype(int)
                behind = far > distance[row, column] * (1 + 1e-3)
                hidden[row[behind], column[behind]] = True
                open_[row[~behind], column[~behind]] = True
    hidden &= ~open_
    image[hidden] += 0.15 * (EDGE - image[hidden])
    image[open_] = EDGE
