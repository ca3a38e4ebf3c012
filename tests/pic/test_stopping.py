"""The stopping power of air is that of NIST's tables, and events and continuous loss add up to it."""

import numpy as np
import pytest
from helpers.estar import half_a_digit, per_mass, table
from scipy.integrate import cumulative_simpson, quad

from repro.pic.air import bremsstrahlung, ionisation
from repro.pic.air.collision_tables import Collisions
from repro.pic.air.medium import ELECTRONS_PER_GRAM, ELEMENTS, Air
from repro.pic.air.processes import PROCESSES
from repro.pic.air.stopping import collision_stopping
from repro.pic.constants import REST_ENERGY

AIR, ESTAR = Air(), table()


def test_elements_have_the_electrons_of_dry_air():
    # but for the carbon, 6e-5 mol of electrons a gram
    found = sum(e.number * e.mass_share / e.molar_mass for e in ELEMENTS) / 1e3
    assert found == pytest.approx(ELECTRONS_PER_GRAM - 6e-5, abs=1e-5)


def test_air_at_300_kelvin_and_an_atmosphere_has_loschmidts_number_of_molecules():
    found = Air(1.1768, 300)
    argon = found.atoms(ELEMENTS[2])
    assert found.oxygen_molecules + found.nitrogen_molecules + argon == pytest.approx(2.446e25, rel=1e-3)


def test_collisional_stopping_power_is_the_tables_to_its_last_digit():
    found, listed = per_mass(collision_stopping(ESTAR["tau"], AIR), AIR.density), ESTAR["collision_MeV_cm2_g"]
    # the table is rounded to four digits, up to 4.3e-4 of the value; 2e-5 is for the constants of ESTAR's time
    assert (np.abs(found - listed) <= half_a_digit(listed) + 2e-5 * listed).all()
    # where rounding hides less than 3e-4, the formula is within it
    fine = half_a_digit(listed) < 3e-4 * listed
    assert np.abs(found / listed - 1)[fine].max() < 3e-4


def test_radiative_stopping_power_is_the_tables():
    found = per_mass(bremsstrahlung.radiative_stopping(ESTAR["tau"], AIR), AIR.density)
    assert found == pytest.approx(ESTAR["radiative_MeV_cm2_g"], rel=1e-12)


def drawn_loss(process, tau, cut, draws=20):
    """What events of a process take of an electron a metre, by their outcomes: of a spectrum these are too few."""
    outcome, u = process.make_outcome(float), (0.0, 0.0, np.sqrt(tau * (tau + 2)))
    with np.errstate(over="ignore"):
        after = [outcome(u, u[2] ** 2, tau, (7, 0, 1, 2), 1 + event, cut)[1] for event in range(draws)]
    left = np.sqrt(1 + np.sum(np.square(after), 1)) - 1
    return process.candidates(tau, cut, AIR) * (tau - left.mean())


def ionisation_loss(tau, cut):
    share = min(cut / tau, 0.5)
    return tau * quad(lambda eps: eps * ionisation.differential(eps, tau, AIR), share, 0.5, limit=200)[0]


def photon_loss(tau, cut):
    if tau <= cut:
        return 0.0
    # dSigma/dk = C / k with the number of photons that `cross_section` counts
    return quad(lambda k: k * bremsstrahlung.cross_section(tau, cut, AIR) / np.log(tau / cut) / k, cut, tau)[0]


#: what events take by an integral over their spectrum
SPECTRA = {ionisation: ionisation_loss, bremsstrahlung: photon_loss}


@pytest.mark.parametrize("cut", [1e3, 1e4])
def test_continuous_loss_and_events_of_all_processes_add_up_to_the_table(cut):
    collisions, small = Collisions(cut=cut), cut / REST_ENERGY
    for tau, listed in zip(ESTAR["tau"], ESTAR["total_MeV_cm2_g"], strict=True):
        events = sum(
            SPECTRA[process](tau, small) if process in SPECTRA else drawn_loss(process, tau, small)
            for process in PROCESSES
        )
        found = per_mass(collisions.restricted_stopping(tau) + events, AIR.density)
        assert found == pytest.approx(listed, rel=1e-3)


def continuous_range(low: float, high, stopping) -> np.ndarray:
    """Path in m on which electrons slow down from each energy in `high` to `low`, losing `stopping`(tau) all the way.

    That is the CSDA range but for what is left of it at `low`.
    """
    grid = np.geomspace(low, np.max(high), 4001)
    path = cumulative_simpson(grid / stopping(grid), x=np.log(grid), initial=0)
    return np.interp(np.log(high), np.log(grid), path)


def test_slowing_down_by_the_stopping_powers_gives_the_tables_range():
    def stopping(tau):
        return collision_stopping(tau, AIR) + bremsstrahlung.radiative_stopping(tau, AIR)

    listed = ESTAR["csda_range_g_cm2"] * 10 / AIR.density
    # from one listed energy to another, for below the table's first the range is not known
    found = listed[0] + continuous_range(ESTAR["tau"][0], ESTAR["tau"], stopping)
    assert found == pytest.approx(listed, rel=2e-3)
    # and down to 1 keV, which is 1.5 % of the range at 10 keV
    found = continuous_range(1e3 / REST_ENERGY, ESTAR["tau"], stopping)
    assert found[3:] == pytest.approx(listed[3:], rel=1e-2)


def test_radiation_below_10_kev_stays_as_it_is_there():
    found = per_mass(bremsstrahlung.radiative_stopping(np.array([1e3, 9e3, 1e4]) / REST_ENERGY, AIR), AIR.density)
    assert found == pytest.approx(0.003897, rel=1e-9)
