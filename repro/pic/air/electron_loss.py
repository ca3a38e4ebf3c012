"""Slow electrons: attachment to O2 in three-body collisions and recombination with ions, as rates per time.

    dn/dt = S - nu n - beta n n_ion

Rates after Kossyi et al. (1992) and Biondi, second hand: to be trusted within 40 %.

In a run nothing calls this, since it would change nothing there: an electron below `Collisions.stop` stays where it is,
and a negative ion that it makes, or the atom with which a positive one recombines, has the same charge in the same
place. So the field and the electrons that fly are those with and without it. What it would change is the current of
slow electrons, which drift in the field until they are lost; that current is not in the solver.
"""

from functools import cache
from math import exp
from typing import NamedTuple

from repro.declared import Kind, Number, OneOf
from repro.parallel import device_function, fma
from repro.particles.random import uniform

from .medium import COLDEST, HOTTEST, Air

#: what becomes of a slow electron: it is still free, lost to an O2 molecule, or lost to a positive ion
FREE, ATTACHMENT, RECOMBINATION = range(3)

#: recombination coefficient in m3/s with electrons at 300 K, and the power of 300 K / T_e it goes with
_IONS = {"O2+": (1.95e-13, 0.7), "O4+": (1.4e-12, 0.5), "N4+": (2.0e-12, 0.5)}

#: the dominant ion in dense air
ION = "O4+"


class SlowRates(NamedTuple):
    """How slow electrons are lost, as kernels take it."""

    #: nu in 1/s
    attachment: float
    #: beta in m3/s
    recombination: float


def attachment(air: Air, temperature: float) -> float:
    """nu in 1/s: e + O2 + M -> O2- + M with M = O2 and N2, for electrons of a temperature in K."""
    Kind(Air).check("air", air)
    te, t, oxygen = _electrons(temperature), air.temperature, air.oxygen_molecules
    with_oxygen = 1.4e-41 * (300 / te) * exp(-600 / t) * exp(700 * (te - t) / (te * t))
    with_nitrogen = 1.07e-43 * (300 / te) ** 2 * exp(-70 / t) * exp(1500 * (te - t) / (te * t))
    return oxygen * (with_oxygen * oxygen + with_nitrogen * air.nitrogen_molecules)


def recombination(temperature: float, ion: str = ION) -> float:
    """beta in m3/s of electrons of a temperature in K with an ion: O2+, O4+ or N4+."""
    OneOf(_IONS).check("ion", ion)
    at_300, power = _IONS[ion]
    return at_300 * (300 / _electrons(temperature)) ** power


def slow_rates(air: Air, real) -> SlowRates:
    """Both rates in type `real`, of electrons as warm as the air."""
    return SlowRates(real(attachment(air, air.temperature)), real(recombination(air.temperature)))


def _electrons(temperature: float) -> float:
    Number(COLDEST, 100 * HOTTEST, "K").check("temperature of slow electrons", temperature)
    return temperature


@cache
def make_electron_loss(real):
    """What becomes of a slow electron within `time` seconds: lose(depth, time, ions, rates, word).

    `depth` is what is left of a number -ln(xi), as for fast electrons; `ions` the positive ions in a cubic metre.
    Returns its fate, FREE for an electron that still is, and what is left of the depth.
    """
    unit, zero = uniform(real), real(0)

    @device_function
    def lose(depth, time, ions, rates, word):
        rate = fma(rates.recombination, ions, rates.attachment)
        left = fma(-rate, time, depth)
        fate = FREE
        if left <= zero:
            fate = ATTACHMENT if unit(word) * rate <= rates.attachment else RECOMBINATION
        return fate, left

    return lose
