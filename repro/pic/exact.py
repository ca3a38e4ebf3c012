"""What theory says of electrons in given fields and of a cold plasma. SI units, momenta over m c.

Numbers for which a formula has no value raise InputError.
"""

from math import asin, sqrt

import numpy as np

from repro.declared import Number, Numbers, Whole
from repro.errors import InputError, require

from .constants import CHARGE, LIGHT, MASS, PERMITTIVITY, REST_ENERGY, SMALLEST


def _not_negative(what: str, value, unit: str) -> np.ndarray:
    found = Numbers(unit=unit).array(what, value)
    if (found < 0).any():
        raise InputError(f"{what} = {found.min():g} {unit}: must be 0 or more")
    return found


def _not_zero(what: str, value, unit: str) -> np.ndarray:
    """Numbers none of which is 0, or a vector that is none."""
    found = Numbers(unit=unit).array(what, value)
    require(found.all(), f"{what} = 0 {unit}: must not be 0")
    return found


def _size(magnetic) -> float:
    """That of a vector in T."""
    return float(_not_zero("magnetic", np.linalg.norm(Numbers(3, unit="T").array("magnetic", magnetic)), "T"))


def momentum_of(energy):
    """Momentum over m c of an electron with a kinetic energy in eV."""
    rise = _not_negative("energy", energy, "eV") / REST_ENERGY
    return np.sqrt(rise * (rise + 2))


def lorentz_factor(momentum):
    """gamma of an electron with a momentum of this size over m c."""
    return np.sqrt(1 + np.square(momentum))


def gyration_frequency(momentum, magnetic):
    """Angular frequency in 1/s of electrons in a field of `magnetic` T: e B / (gamma m)."""
    return CHARGE * np.asarray(magnetic) / (MASS * lorentz_factor(momentum))


def gyration_radius(across, magnetic):
    """Radius in m of the orbit of electrons with a momentum `across` a field of `magnetic` T."""
    return np.asarray(across) * MASS * LIGHT / (CHARGE * _not_zero("magnetic", magnetic, "T"))


def helix(position, momentum, magnetic, time):
    """Positions in m and momenta after `time` s in a field `magnetic` (T, three numbers), both (count, 3)."""
    position, momentum = np.atleast_2d(position).astype(float), np.atleast_2d(momentum).astype(float)
    size = _size(magnetic)
    axis = np.asarray(magnetic, float) / size
    rate = gyration_frequency(np.linalg.norm(momentum, axis=1), size)[:, None]
    along = (momentum @ axis)[:, None] * axis
    ahead, side = momentum - along, np.cross(axis, momentum)
    angle = rate * time
    # 1 - cos without the loss of digits
    versed = 2 * np.sin(angle / 2) ** 2
    way = along * time + (np.sin(angle) * ahead + versed * side) / rate
    gamma = lorentz_factor(np.linalg.norm(momentum, axis=1))[:, None]
    return position + LIGHT / gamma * way, along + np.cos(angle) * ahead + np.sin(angle) * side


def drift(electric, magnetic) -> np.ndarray:
    """Velocity in m/s with which the centres of orbits drift across both fields: E x B / B^2."""
    return np.cross(Numbers(3, unit="V/m").array("electric", electric), magnetic) / _size(magnetic) ** 2


def plasma_frequency(density: float) -> float:
    """omega_p in 1/s of cold electrons, so many in m^3."""
    return sqrt(_not_negative("density", density, "1/m3") * CHARGE**2 / (MASS * PERMITTIVITY))


def leapfrog_frequency(frequency: float, dt: float) -> float:
    """The frequency in 1/s at which a leapfrog in steps of dt s has an oscillator of `frequency` oscillate."""
    Number(SMALLEST, unit="s").check("dt", dt)
    Number(0, 2 / dt, "1/s, above which it is unstable").check("frequency", frequency)
    return 2 / dt * asin(frequency * dt / 2)


def mesh_share(angle: float, each: int) -> float:
    """omega^2 over omega_p^2 of a cold plasma wave that goes along the diagonal of two axes with the same spacing.

    `angle` is the wave number times the spacing along each axis, and `each` the particles of a cell along an axis, in
    even distances. The linear weights across an edge, of current and of field, have the eigenvalue
    1 - 4 b sin^2(angle / 2), with b the mean of s (1 - s) over the particles' places s.
    """
    Whole(1).check("particles of a cell along an axis", each)
    neighbour = 1 / 6 + 1 / (12 * each**2)
    return 1 - 4 * neighbour * np.sin(angle / 2) ** 2


def boris_phase_error(turn):
    """Share by which Boris' rotation by 2 arctan(turn / 2) lags behind `turn` radians: -turn^2 / 12 for small ones."""
    turn = _not_zero("turn", turn, "radians")
    return 2 * np.arctan(turn / 2) / turn - 1


def two_stream_growth(wave_number: float, momentum: float, density: float) -> float:
    """Growth rate in 1/s of a wave between two cold beams of momentum +-u over m c, each of density / 2 in m^3.

    From 1 = w^2 / (omega - k v)^2 + w^2 / (omega + k v)^2 with w^2 = omega_p^2 / (2 gamma^3); zero where it is stable.
    """
    gamma = float(lorentz_factor(momentum))
    beam = plasma_frequency(density) ** 2 / (2 * gamma**3)
    beat = (wave_number * LIGHT * momentum / gamma) ** 2
    return sqrt(max(0.0, sqrt(beam * (beam + 4 * beat)) - beat - beam))


def slow_electrons(time, source: float, attachment: float, recombination: float) -> np.ndarray:
    """Density in 1/m3 of slow electrons at times in s, none at first, with as many ions as electrons.

    dn/dt = S - nu n - beta n^2 has the solution n = 2 S tanh(t q / 2) / (q + nu tanh(t q / 2)), q^2 = nu^2 + 4 S beta,
    for `source` S in 1/(m3 s), `attachment` nu in 1/s and `recombination` beta in m3/s.
    """
    _not_negative("source", source, "1/(m3 s)")
    _not_negative("attachment", attachment, "1/s")
    _not_negative("recombination", recombination, "m3/s")
    q = np.sqrt(attachment**2 + 4 * source * recombination)
    require(q > 0, "attachment = 0 1/s, and recombination = 0 m3/s or no source: there is no balance")
    growth = np.tanh(np.asarray(time) * q / 2)
    return 2 * source * growth / (q + attachment * growth)
