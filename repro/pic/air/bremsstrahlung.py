"""Bremsstrahlung: photons with the spectrum 1/k up to the electron's energy, as many as lose ESTAR's energy.

    dSigma/dk = C / k,   k < T,   C = S_rad / T

A photon above the cut is an event, and leaves the electron its direction; those below are a continuous loss. The
spectrum is adequate up to a few MeV.
"""

from functools import cache

import numpy as np

from repro.parallel import device_function
from repro.parallel.elementary import exponential, logarithm
from repro.particles.random import uniform

from ..constants import REST_ENERGY
from .event_numbers import ANGLES, event_words
from .kinematics import with_energy
from .medium import Air

#: as a process, see `processes`: the photon takes the energy, and flies out of the air
SECONDARY, ENERGY = False, "radiated"

#: NIST ESTAR (ICRU 37), dry air: kinetic energies in MeV
_ENERGIES = """
    0.01 0.0125 0.015 0.0175 0.02 0.025 0.03 0.035 0.04 0.045 0.05 0.06 0.07 0.08 0.09 0.1 0.125 0.15 0.175 0.2
    0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 1.5 1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 12.5 15 20
"""

#: radiative stopping power at these in MeV cm2/g
_STOPPING = """
    0.003897 0.003921 0.003937 0.003946 0.003954 0.003966 0.003976 0.003986 0.003998 0.004011 0.004025 0.004057
    0.004093 0.004133 0.004175 0.004222 0.004348 0.004485 0.004633 0.004789 0.005126 0.005495 0.00589 0.006311
    0.006757 0.007223 0.00821 0.009258 0.01036 0.01151 0.01271 0.01588 0.01927 0.02284 0.02656 0.03437 0.0426
    0.05115 0.05999 0.06908 0.07838 0.09754 0.1173 0.1376 0.1584 0.1795 0.2337 0.2895 0.4042
"""


def radiative_stopping(tau, air: Air) -> np.ndarray:
    """ESTAR's radiative stopping power in m c^2 per metre, at energies tau in m c^2.

    Between the table's energies it follows a cubic spline of the logarithms. Below 10 keV, where it is 2e-4 of the
    whole loss, it stays as it is there; above 20 MeV it ends.
    """
    # takes a third of the time to import this room, which every rank does
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(*(np.log(np.array(column.split(), float)) for column in (_ENERGIES, _STOPPING)))
    energy = np.maximum(np.log(np.asarray(tau, float) * REST_ENERGY / 1e6), spline.x[0])
    # MeV cm2/g is 1e5 eV m2/kg
    return 1e5 * np.exp(spline(energy)) * air.density / REST_ENERGY


def cross_section(tau, cut: float, air: Air) -> np.ndarray:
    """Macroscopic cross-section (1/m) of photons above `cut` (in m c^2)."""
    tau = np.asarray(tau, float)
    return radiative_stopping(tau, air) / tau * np.log(np.maximum(tau / cut, 1))


#: all of them happen
candidates = cross_section


def loss(tau, cut: float, air: Air) -> np.ndarray:
    """Mean energy that photons below `cut` take per metre, in m c^2 / m."""
    tau = np.asarray(tau, float)
    return radiative_stopping(tau, air) * np.minimum(cut / tau, 1)


@cache
def make_photon_energy(real):
    """A photon's energy, with the density 1/k from cut to tau, for a number from 0 to 1: energy(unit, cut, tau)."""
    natural, power = logarithm(real), exponential(real)

    @device_function
    def energy(unit, cut, tau):
        return min(cut * power(unit * natural(tau / cut)), tau)

    return energy


@cache
def make_outcome(real):
    """What the emission of a photon leaves, see `processes`: the electron with less energy in the same direction."""
    unit, zero, energy = uniform(real), real(0), make_photon_energy(real)

    @device_function
    def outcome(u, u2, tau, key, event, cut):
        first, _ = event_words(key, event, ANGLES)
        return True, with_energy(u, u2, tau - energy(unit(first), cut, tau)), (zero, zero, zero)

    return outcome
