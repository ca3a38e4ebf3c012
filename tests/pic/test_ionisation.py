"""Moller's cross-section: its integrals, the energies drawn from it, and what a collision conserves."""

import numpy as np
import pytest
from helpers.random_words import units
from scipy.integrate import quad
from scipy.stats import kstest

from repro.pic.air import ionisation
from repro.pic.air.kinematics import make_deflection
from repro.pic.air.medium import Air
from repro.pic.constants import REST_ENERGY

AIR, CUT = Air(), 1e3 / REST_ENERGY
ENERGIES = [2.5e3, 1e4, 1e5, 1e6, 1e7]


def kinetic_energy(u):
    """gamma - 1 of a momentum, without cancellation."""
    return u @ u / (1 + np.sqrt(1 + u @ u))


@pytest.mark.parametrize("energy", ENERGIES)
def test_cross_section_and_loss_are_integrals_of_the_differential_one(energy):
    tau = energy / REST_ENERGY

    def integral(power):
        """Of eps^power, over the logarithm of eps."""

        def integrand(log):
            return np.exp((power + 1) * log) * ionisation.differential(np.exp(log), tau, AIR)

        return quad(integrand, np.log(CUT / tau), np.log(0.5), limit=200)[0]

    number, loss = integral(0), integral(1)
    assert ionisation.cross_section(tau, CUT, AIR) == pytest.approx(number, rel=1e-9)
    assert ionisation.stopping_above(tau, CUT, AIR) == pytest.approx(tau * loss, rel=1e-9)


def test_no_secondary_is_faster_than_the_electron_that_goes_on():
    tau = np.array([0.5, 1, 1.999]) * CUT
    for found in (ionisation.cross_section, ionisation.stopping_above, ionisation.candidates):
        assert found(tau, CUT, AIR) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("energy", ENERGIES)
def test_candidates_are_as_many_as_the_rejection_needs(energy):
    tau = energy / REST_ENERGY
    eps = np.linspace(CUT / tau, 0.5, 2001)
    chance = np.array([ionisation.acceptance(share, tau) for share in eps])
    assert chance.max() <= 1 + 1e-12
    # a transfer from 1/eps^2, times the chance, is the differential cross-section
    per_share = ionisation.candidates(tau, CUT, AIR) / (tau / CUT - 2) / eps**2
    assert per_share * chance == pytest.approx(ionisation.differential(eps, tau, AIR), rel=1e-9)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("energy", ENERGIES)
def test_drawn_energies_follow_mollers_law(energy, real):
    tau = energy / REST_ENERGY
    first, second = units(20000, real)
    drawn = [ionisation.transfer(unit, real(CUT), real(tau)) for unit in first]
    drawn = np.array(
        [eps for eps, unit in zip(drawn, second, strict=True) if unit <= ionisation.acceptance(eps, real(tau))], float
    )
    total = ionisation.cross_section(tau, CUT, AIR)

    def below(eps):
        return 1 - ionisation.cross_section(tau, eps * tau, AIR) / total

    assert kstest(drawn, below).pvalue > 1e-6


def ejected(real, u, size, tau, energy, turn):
    """The momentum of a secondary of an energy, as a kernel makes it."""
    polar, given = ionisation.ejection(tau, energy)
    way = make_deflection(real)(u, size, polar, turn)
    return np.array([given / size * part for part in way], float)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("energy", ENERGIES)
def test_energy_and_momentum_are_conserved_to_rounding(energy, real):
    tau, rounding = energy / REST_ENERGY, float(np.finfo(real).eps)
    size = np.sqrt(tau * (tau + 2))
    generator = np.random.default_rng(1)
    for unit, turn in generator.random((300, 2)):
        way = generator.normal(size=3)
        u = tuple(real(part) for part in size * way / np.linalg.norm(way))
        before = np.array(u, float)
        given = ionisation.transfer(real(unit), real(CUT), real(tau)) * real(tau)
        secondary = ejected(real, u, real(size), real(tau), given, real(turn))
        primary = before - secondary
        assert kinetic_energy(primary) + kinetic_energy(secondary) == pytest.approx(
            kinetic_energy(before), rel=8 * rounding
        )
        assert kinetic_energy(secondary) == pytest.approx(float(given), rel=8 * rounding)


def test_electrons_that_share_their_energy_leave_at_the_same_angle():
    tau = 1e6 / REST_ENERGY
    size = np.sqrt(tau * (tau + 2))
    secondary = ejected(np.float64, (0.0, 0.0, size), size, tau, tau / 2, 0.25)
    primary = np.array([0, 0, size]) - secondary
    assert np.linalg.norm(primary) == pytest.approx(np.linalg.norm(secondary), rel=1e-12)
    # cos^2 = (T + 2) / (T + 4)
    assert (secondary[2] / np.linalg.norm(secondary)) ** 2 == pytest.approx((tau + 2) / (tau + 4), rel=1e-12)
