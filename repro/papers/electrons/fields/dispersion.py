"""Frequencies of waves on Yee's mesh, measured, beside what its dispersion relation says."""

import numpy as np
import pandas as pd

from repro.errors import require_whole
from repro.parallel.launch_sequence import in_turn
from repro.pic.constants import LIGHT
from repro.pic.maxwell import waves
from repro.pic.maxwell.fields import Fields, courant_limit
from repro.pic.mesh import Mesh

#: by how much a frequency may be off the dispersion relation, of it, and count as exact
FREQUENCY_ERROR = 1e-6

#: periods along x and y that have the same wave number in a square box: FAMILY^2 is a sum of squares in several ways
FAMILY = 25
PERIODS = ((25, 0), (24, 7), (20, 15), (15, 20), (7, 24), (0, 25))

#: side of a cell in m, and share of the Courant limit
SPACING, COURANT = 1e-3, 0.99

#: steps over which a frequency is measured
STEPS = 12


def frequency(mesh: Mesh, dt: float, wave_vector, device, real) -> float:
    """Angular frequency in 1/s of a standing wave with E next to z, from its amplitude at successive steps."""
    mode = waves.plane_wave(mesh, wave_vector, waves.transverse(mesh, wave_vector, (0, 0, 1)))
    fields = Fields(device, real, mesh, dt, 1.0)
    fields.set(mode)
    fields.begin()
    amplitudes = []
    for _ in range(STEPS):
        in_turn(*fields.before.values(), *fields.after.values())
        amplitudes.append(float(np.sum(fields.on_host()["electric"][2, :-1, :-1, :-1] * mode[2, :-1, :-1, :-1])))
    return waves.measured_frequency(np.array(amplitudes), dt)


def directions(wavelengths, device, real) -> pd.DataFrame:
    """Phase velocities over that of light of waves of so many cells in a plane, by the angle in degrees from x."""
    rows = []
    for wavelength in wavelengths:
        require_whole("cells of a wavelength", wavelength, 2, 2000)
        cells = FAMILY * wavelength
        mesh = Mesh((cells, cells, 1), (SPACING,) * 3)
        dt = COURANT * courant_limit(mesh)
        for periods in PERIODS:
            wave_vector = 2 * np.pi * np.array([*periods, 0]) / mesh.length
            exact, light = waves.yee_frequency(mesh, dt, wave_vector), LIGHT * np.linalg.norm(wave_vector)
            found = frequency(mesh, dt, wave_vector, device, real)
            angle = np.degrees(np.arctan2(periods[1], periods[0]))
            rows.append((wavelength, angle, found / light, exact / light, found / exact - 1))
    return pd.DataFrame(rows, columns=["wavelength", "angle", "measured", "theory", "error"])


def theory(wavelength: float, angles) -> np.ndarray:
    """Phase velocity over that of light of waves of so many cells at `angles` in degrees from x in a plane."""
    mesh = Mesh((1, 1, 1), (SPACING,) * 3)
    size, dt = 2 * np.pi / (wavelength * SPACING), COURANT * courant_limit(mesh)
    vectors = ((size * np.cos(angle), size * np.sin(angle), 0.0) for angle in np.radians(angles))
    return np.array([waves.yee_frequency(mesh, dt, vector) / (LIGHT * size) for vector in vectors])
