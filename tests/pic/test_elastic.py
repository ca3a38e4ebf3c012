"""Angles of elastic collisions follow the screened Rutherford law with Mott's factor, element by element."""

from itertools import pairwise, product

import numpy as np
import pytest
from helpers.random_words import units
from scipy.integrate import cumulative_simpson, quad
from scipy.stats import kstest

from repro.pic.air import elastic
from repro.pic.air.medium import ELEMENTS, NITROGEN, Air
from repro.pic.constants import REST_ENERGY

AIR = Air()
ENERGIES = [1e4, 1e6, 1e7]


def density(mu1, tau, element):
    """dSigma/dmu1 of an element with Mott's factor, up to what is common to all elements."""
    a = elastic.screening(tau, element)
    size = element.number * (element.number + 1) * AIR.atoms(element)
    return size * elastic.mott_factor(mu1, tau, element) / (mu1 + 2 * a) ** 2


def exact(tau):
    """A fine grid of mu1, and the share of all collisions below each."""
    mu1 = np.concatenate([[0], np.geomspace(1e-12, 2, 20001)])
    total = sum(density(mu1, tau, element) for element in ELEMENTS)
    below = cumulative_simpson(total, x=mu1, initial=0)
    return mu1, below / below[-1], total / below[-1]


def sample(tau, count, real):
    """mu1 of the candidates that happen, as a kernel draws them."""
    angle = elastic.make_scattering(real)
    (first, second), (third, _) = units(count, real), units(count, real, seed=2)
    u2 = real(tau * (tau + 2))
    drawn = [angle(u2, *numbers) for numbers in zip(first, second, third, strict=True)]
    return np.array([mu1 for mu1, happens in drawn if happens], float)


# the slower, the more of the screening shows
@pytest.mark.parametrize("energy", [300.0, *ENERGIES])
def test_cross_section_is_the_integral_of_the_differential_one(energy):
    tau = energy / REST_ENERGY
    gamma, beta2 = 1 + tau, tau * (tau + 2) / (1 + tau) ** 2
    # dsigma/dOmega = r_e^2 Z (Z + 1) / (gamma^2 beta^4 (1 - cos + 2 A)^2) without Mott's factor
    radius = 2.8179403e-15
    found = 0
    for element in ELEMENTS:
        edges = np.concatenate([[0], np.geomspace(1e-10, 2, 40)])
        found += sum(quad(density, low, high, (tau, element))[0] for low, high in pairwise(edges))
    found *= 2 * np.pi * radius**2 / (gamma * beta2) ** 2
    assert elastic.cross_section(tau, AIR) == pytest.approx(found, rel=1e-6)


def test_candidates_are_never_fewer_than_collisions():
    tau, mu1 = np.geomspace(1e-4, 40, 50)[:, None], np.linspace(0, 2, 201)
    for element in ELEMENTS:
        assert (elastic.mott_factor(mu1, tau, element) <= elastic.bound(tau, element) * (1 + 1e-12)).all()
    assert (elastic.cross_section(tau, AIR) <= elastic.candidates(tau, None, AIR)).all()


def test_mean_of_a_rutherford_angle_is_the_closed_form():
    a = elastic.screening(1e6 / REST_ENERGY, NITROGEN)

    def share(mu1):
        """Of the collisions without F that turn by at most mu1."""
        return mu1 * (1 + a) / (mu1 + 2 * a)

    mean = quad(lambda log: (1 - share(np.exp(log))) * np.exp(log), -60, np.log(2), limit=500)[0]
    assert mean == pytest.approx(2 * a * ((1 + a) * np.log1p(1 / a) - 1), rel=1e-6)
    angle, u2 = elastic.make_scattering(np.float64), (1e6 / REST_ENERGY) * (1e6 / REST_ENERGY + 2)
    drawn = [angle(u2, 1e-9, unit, 1.0)[0] for unit in units(100000)[0]]
    assert kstest(drawn, share).pvalue > 1e-6


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("energy", ENERGIES)
def test_drawn_angles_follow_the_law_with_motts_factor(energy, real):
    tau = energy / REST_ENERGY
    grid, below, each = exact(tau)
    drawn = sample(tau, 20000, real)
    assert drawn.min() >= 0
    assert drawn.max() <= 2
    assert kstest(drawn, lambda mu1: np.interp(mu1, grid, below)).pvalue > 1e-6
    # few collisions at large angles carry most of the mean, so its scatter is that of theory, not of the sample
    mean, square = (np.trapezoid(grid**power * each, grid) for power in (1, 2))
    assert abs(drawn.mean() - mean) < 5 * np.sqrt((square - mean**2) / len(drawn))
    # candidates are rejected as often as the cross-sections say
    share = elastic.cross_section(tau, AIR) / elastic.candidates(tau, None, AIR)
    assert abs(len(drawn) / 20000 - share) < 5 * np.sqrt(share * (1 - share) / 20000)


def test_large_angles_happen_as_often_as_motts_factor_says():
    tau, far = 1e7 / REST_ENERGY, 1e-6
    first, second = units(20000)
    # the millionth of all candidates that turn most, half of them by more than 60 degrees
    angle, u2 = elastic.make_scattering(np.float64), np.float64(tau * (tau + 2))
    drawn = [angle(u2, 1e-9, far * unit, chance) for unit, chance in zip(first, second, strict=True)]
    mu1, happened = np.array(drawn).T
    factor = elastic.mott_factor(mu1, tau, NITROGEN) / elastic.bound(tau, NITROGEN)
    assert abs(np.mean(happened) - factor.mean()) < 5 * np.sqrt(np.mean(factor * (1 - factor)) / 20000)
    assert factor.mean() < 0.8


def test_the_screening_of_an_element_is_molieres():
    tau = 2e5 / REST_ENERGY
    momentum, beta2 = np.sqrt(tau * (tau + 2)), tau * (tau + 2) / (1 + tau) ** 2
    for number, element in zip((7, 8, 18), ELEMENTS, strict=True):
        # the Thomas-Fermi radius, and hbar / p from Compton's wavelength
        radius, wave = 0.885 * 5.29177211e-11 / number ** (1 / 3), 3.86159268e-13 / momentum
        expected = (wave / (2 * radius)) ** 2 * (1.13 + 3.76 * (number / 137.035999) ** 2 / beta2)
        assert elastic.screening(tau, element) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("energy", [300.0, *ENERGIES])
def test_an_element_is_aimed_at_as_often_as_its_share_of_the_candidates_says(energy):
    """Candidates of one number for the angle turn by what the screening of their element makes of it.

    And what happens of them is by its own charge.
    """
    tau = energy / REST_ENERGY
    u2, beta = np.float64(tau * (tau + 2)), np.sqrt(tau * (tau + 2)) / (1 + tau)
    screened = np.array([elastic.screening(tau, element) for element in ELEMENTS])
    # pi alpha Z beta / 4 is the largest that Mott's factor has beyond one
    numbers, per_mass = np.array([7, 8, 18]), [6.02214076e23 * e.mass_share / e.molar_mass for e in ELEMENTS]
    weights = numbers * (numbers + 1) * per_mass * (1 + np.pi / 137.035999 * numbers * beta / 4)
    weights /= screened * (1 + screened)
    ends = np.cumsum(weights) / weights.sum()
    angle = elastic.make_scattering(np.float64)
    for element, a, edges in zip(ELEMENTS, screened, pairwise([0.0, *ends]), strict=True):
        for aim, unit in product(edges + np.array([1e-9, -1e-9]), (0.3, min(a, 1) / 2)):
            mu1, _ = angle(u2, aim, unit, 0.0)
            assert mu1 == pytest.approx(2 * a * (1 - unit) / (a + unit), rel=1e-12)
            # it happens with the element's own factor of Mott over its bound
            chance = elastic.mott_factor(mu1, tau, element) / elastic.bound(tau, element)
            assert [angle(u2, aim, unit, chance + off)[1] for off in (-1e-9, 1e-9)] == [True, False]
