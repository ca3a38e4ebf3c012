"""Exact solutions of Yee's scheme itself: waves on the mesh, and how fast they oscillate.

Taflove and Hagness (2005), Computational Electrodynamics, chapter 4.
"""

import numpy as np

from repro.declared import Number, Numbers
from repro.errors import require

from ..constants import LIGHT, SMALLEST
from ..mesh import Mesh


def yee_frequency(mesh: Mesh, dt: float, wave_vector) -> float:
    """Angular frequency in 1/s of waves exp(i k x) on the mesh, k in 1/m.

    sin^2(omega dt / 2) / (c dt)^2 = sum_i sin^2(k_i dx_i / 2) / dx_i^2. A step beyond the Courant limit has none: NaN.
    """
    Number(SMALLEST, unit="s").check("dt", dt)
    slope = np.linalg.norm(_slopes(mesh, wave_vector))
    with np.errstate(invalid="ignore"):
        return float(2 / dt * np.arcsin(LIGHT * dt * slope))


def _slopes(mesh: Mesh, wave_vector) -> np.ndarray:
    """sin(k_i dx_i / 2) / dx_i."""
    spacing = np.asarray(mesh.spacing)
    return np.sin(Numbers(3, unit="1/m").array("wave vector", wave_vector) * spacing / 2) / spacing


def transverse(mesh: Mesh, wave_vector, towards) -> np.ndarray:
    """The direction of E next to `towards` with which a wave has no divergence on the mesh; of length 1."""
    slopes, towards = _slopes(mesh, wave_vector), Numbers(3).array("towards", towards)
    require(slopes.any(), f"wave vector = {wave_vector} 1/m: one without a direction has none across it")
    found = towards - slopes * (slopes @ towards) / (slopes @ slopes)
    return found / np.linalg.norm(found)


def _phases(mesh: Mesh, wave_vector, direction):
    """For each component of E its size, and k_i x_i along each axis on all nodes, those at the high ends included."""
    wave_vector = Numbers(3, unit="1/m").array("wave vector", wave_vector)
    direction = Numbers(3).array("direction", direction)
    for c in range(3):
        # half a cell up along its own axis
        x, y, z = ((np.arange(mesh.shape[k] + 1) + 0.5 * (k == c)) * mesh.spacing[k] for k in range(3))
        places = x, y[:, None], z[:, None, None]
        yield direction[c], [k * place for k, place in zip(wave_vector, places, strict=True)]


def plane_wave(mesh: Mesh, wave_vector, direction) -> np.ndarray:
    """E as direction * cos(k x), of shape (3, nz + 1, ny + 1, nx + 1), in V/m: two opposite waves."""
    return np.array([size * np.cos(sum(phases)) for size, phases in _phases(mesh, wave_vector, direction)])


def cavity_mode(mesh: Mesh, wave_vector, direction) -> np.ndarray:
    """E of a standing wave between conducting walls: cos along its own axis and sin along the others, as `plane_wave`.

    k_i is a multiple of pi over the box's length.
    """
    found = []
    for c, (size, phases) in enumerate(_phases(mesh, wave_vector, direction)):
        waves = [np.cos(phase) if axis == c else np.sin(phase) for axis, phase in enumerate(phases)]
        found.append(size * waves[0] * waves[1] * waves[2])
    return np.array(found)


def measured_frequency(amplitudes: np.ndarray, dt: float) -> float:
    """Angular frequency in 1/s of amplitudes a(n) at successive steps, from a(n + 1) + a(n - 1) = 2 cos(omega dt) a(n).

    The cosine is the one that fits all steps best.
    """
    Number(SMALLEST, unit="s").check("dt", dt)
    amplitudes = Numbers(None).array("amplitudes", amplitudes)
    middle = amplitudes[1:-1]
    require(middle.any(), f"amplitudes: {len(amplitudes)} of them do not oscillate: give three or more, not all 0")
    cosine = np.sum((amplitudes[2:] + amplitudes[:-2]) * middle) / (2 * np.sum(middle**2))
    return float(np.arccos(cosine) / dt)
