"""Energies and directions keep their digits, from slow electrons to the smallest angles of fast ones."""

import numpy as np
import pytest
from helpers.random_words import units

from repro.pic.air.kinematics import energy_of, make_deflection

WAYS = [(1, 0, 0), (0, 0, 1), (0, 0, -1), (0.6, 0, -0.8), (1e-4, -1e-4, -1), (0.5, -0.5, 0.1), (0, 1, 0)]


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_energy_and_momentum_are_inverse_down_to_slow_electrons(real):
    tau = np.geomspace(1e-5, 40, 200).astype(real)
    found = [energy_of(value * (value + real(2))) for value in tau]
    assert np.array(found, float) == pytest.approx(tau.astype(float), rel=4 * float(np.finfo(real).eps))


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("way", WAYS)
def test_a_deflection_has_its_angle_and_keeps_the_length(way, real):
    rounding, turned = float(np.finfo(real).eps), make_deflection(real)
    u = np.array(way) / np.linalg.norm(way) * 3
    start = tuple(real(part) for part in u)
    before = np.array(start, float)
    size = np.linalg.norm(before)
    for mu1 in (1e-3, 0.5, 1.0, 1.7, 2.0):
        for turn in units(20)[0]:
            after = np.array(turned(start, real(size), real(mu1), real(turn)), float)
            assert np.linalg.norm(after) == pytest.approx(size, rel=4 * rounding)
            assert 1 - after @ before / (size * np.linalg.norm(after)) == pytest.approx(mu1, abs=8 * rounding)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_small_angles_keep_their_digits(real):
    turned, mu1 = make_deflection(real), 1e-9
    for way in WAYS[:3]:
        start = tuple(real(part) for part in way)
        after = np.array(turned(start, real(1), real(mu1), real(0.1)), float)
        across = after - (after @ np.array(way)) * np.array(way)
        # sin^2 = mu1 (2 - mu1), though 1 - mu1 is 1 in single precision
        assert np.linalg.norm(across) == pytest.approx(np.sqrt(2 * mu1), rel=1e-5)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_azimuths_are_uniform_around_any_direction(real):
    turned = make_deflection(real)
    for way in ((0.0, 0.0, -1.0), (0.48, -0.6, 0.64)):
        start = tuple(real(part) for part in way)
        across = sum(np.array(turned(start, real(1), real(0.3), real(k / 16)), float) for k in range(1, 17)) / 16
        assert across == pytest.approx(0.7 * np.array(way), abs=1e-6)


def test_ten_thousand_collisions_do_not_change_the_energy():
    turned = make_deflection(np.float32)
    u, size = (np.float32(0.6), np.float32(0), np.float32(0.8)), np.float32(1)
    for mu1, turn in zip(*units(10000, np.float32), strict=True):
        u = turned(u, size, np.float32(1e-3) * mu1, turn)
        size = np.float32(np.sqrt(float(u[0]) ** 2 + float(u[1]) ** 2 + float(u[2]) ** 2))
    # roundings of 6e-8 that go either way
    assert float(size) == pytest.approx(1, abs=1e-5)
