"""Photons have the spectrum 1/k, and take the energy of the radiative stopping power."""

import numpy as np
import pytest
from helpers.random_words import units
from scipy.stats import kstest

from repro.parallel.elementary import exponential
from repro.pic.air import bremsstrahlung
from repro.pic.air.medium import Air
from repro.pic.constants import REST_ENERGY

AIR, CUT = Air(), 1e3 / REST_ENERGY


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("energy", [1e4, 1e6, 1e7])
def test_photons_have_the_spectrum_and_the_mean_energy(energy, real):
    tau = energy / REST_ENERGY
    draw = bremsstrahlung.make_photon_energy(real)
    drawn = np.array([draw(unit, real(CUT), real(tau)) for unit in units(20000, real)[0]], float)
    assert drawn.max() <= real(tau)
    logs = np.log(tau / CUT)
    assert kstest(drawn, lambda k: np.log(k / CUT) / logs).pvalue > 1e-6
    number = bremsstrahlung.cross_section(tau, CUT, AIR)
    loss = bremsstrahlung.radiative_stopping(tau, AIR)
    mean = (loss - bremsstrahlung.loss(tau, CUT, AIR)) / number
    deviation = np.sqrt((tau**2 - CUT**2) / (2 * logs) - mean**2)
    assert abs(drawn.mean() - mean) < 5 * deviation / np.sqrt(len(drawn))


def test_below_the_cut_all_radiation_is_a_continuous_loss():
    tau = np.array([0.2, 0.9, 1]) * CUT
    assert bremsstrahlung.cross_section(tau, CUT, AIR) == pytest.approx(0)
    assert bremsstrahlung.loss(tau, CUT, AIR) == pytest.approx(bremsstrahlung.radiative_stopping(tau, AIR))


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_exponential_is_to_rounding(real):
    x = np.linspace(-12, 12, 4001).astype(real)
    found = np.array([exponential(real)(value) for value in x], float)
    assert found == pytest.approx(np.exp(x.astype(float)), rel=3 * float(np.finfo(real).eps), abs=0)
