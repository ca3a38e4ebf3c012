"""Collisions of electrons in air, which kernels call: when one is due, which it is, and what it leaves.

A particle carries an optical depth across segments, faces and steps:

    majorant, stopping, longest = ahead(tau, tables)
    path  = the shortest of depth / majorant, longest, and what else ends the segment
    tau   = slowed(tau, stopping, path, tables)
    depth = depth - majorant * path
    where depth is used up, and tau is not below tables.stop:
        process, u, secondary, depth = collide(u, majorant, key, event, tables)

Random numbers are named by `key`, which is (lower and upper half of the particle's id, seed, step), and by the number
of the event, counted from 1 in each step; with number 0 a particle gets its first depth. So a history is the same
wherever and in whatever order it is computed.
"""

from functools import cache
from math import sqrt

from numpy import uint32

from repro.parallel import inline
from repro.parallel.elementary import logarithm
from repro.particles.random import ROUNDS, tea, uniform

from ..motion.push import squared
from . import bremsstrahlung, elastic, ionisation
from .collision_tables import total_rates
from .kinematics import deflected, kinetic, with_energy
from .processes import ELASTIC, IONISATION, NOTHING, RADIATION

#: the stream of `repro.particles.random` for collisions. It is the lower byte of the word for the stream, which is all
#: that others use of it; above are the number of the event and the purpose.
COLLISION = 101

#: most events of a particle in a step
MOST_EVENTS = 2**22 - 1

#: purposes of an event's words: choice of process and next depth; energy or polar angle, azimuth; rejection, element;
#: the id of the secondary
_CHOICE, _ANGLES, _REJECTION, _CHILD = range(4)


@inline
def _stream(event, purpose):
    return uint32(COLLISION + (4 * event + purpose) * 256)


@cache
def _event_words():
    words = tea(ROUNDS)

    @inline
    def drawn(key, event, purpose):
        low, high, seed, step = key
        return words(low, high, _stream(event, purpose), seed, step)

    return drawn


@cache
def segment_depth(real):
    """Returns depth(key, event): the optical depth -ln(xi) of a segment by its number, with 0 that of the first one.

    Who does not carry it across segments draws it for each anew.
    """
    drawn, unit, natural = _event_words(), uniform(real), logarithm(real)

    @inline
    def depth(key, event):
        return -natural(unit(drawn(key, event, _CHOICE)[1]))

    return depth


@cache
def child_id():
    """Returns child(key, event): the lower and upper half of the id of the secondary that an event has set free.

    The upper half is from 2^30 to 2^31, so that ids are positive in 64 bits and not those of particles that are
    counted. Two of N secondaries share an id with the probability N^2 / 2^63.
    """
    drawn = _event_words()

    @inline
    def child(key, event):
        low, high = drawn(key, event, _CHILD)
        return low, uint32((high & uint32(0x3FFFFFFF)) | uint32(0x40000000))

    return child


@cache
def _scattered(real):
    drawn, unit = _event_words(), uniform(real)
    angle, turned = elastic.scattering(real), deflected(real)

    @inline
    def scattered(u, u2, key, event):
        first, second = drawn(key, event, _ANGLES)
        third, fourth = drawn(key, event, _REJECTION)
        mu1, happens = angle(u2, unit(fourth), unit(first), unit(third))
        if not happens:
            return NOTHING, u
        return ELASTIC, turned(u, sqrt(u2), mu1, unit(second))

    return scattered


@cache
def _ionising(real):
    drawn, unit = _event_words(), uniform(real)
    share, chance, eject = ionisation.transfer(real), ionisation.acceptance(real), ionisation.ejecting(real)
    zero = real(0)

    @inline
    def ionised(u, u2, tau, key, event, cut):
        first, second = drawn(key, event, _ANGLES)
        third, _ = drawn(key, event, _REJECTION)
        eps = share(unit(first), cut, tau)
        if unit(third) > chance(eps, tau):
            return NOTHING, u, (zero, zero, zero)
        x, y, z = eject(u, sqrt(u2), tau, eps * tau, unit(second))
        return IONISATION, (u[0] - x, u[1] - y, u[2] - z), (x, y, z)

    return ionised


@cache
def _radiating(real):
    drawn, unit = _event_words(), uniform(real)
    energy, scaled = bremsstrahlung.photon(real), with_energy(real)

    @inline
    def radiated(u, u2, tau, key, event, cut):
        first, _ = drawn(key, event, _ANGLES)
        return scaled(u, u2, tau - energy(unit(first), cut, tau))

    return radiated


@cache
def colliding(real):
    """Returns collide(u, majorant, key, event, tables): a candidate for a collision of an electron of momentum u.

    `majorant` is that of the segment which ends here. Returns the process (see `processes`), the momentum after it,
    that of the secondary (zero but for IONISATION; its id is by `child_id`), and the depth to the next candidate. A
    photon takes what the kinetic energy has lost.
    """
    drawn, unit, natural, rates_at = _event_words(), uniform(real), logarithm(real), total_rates(real)
    energy_of, scatter, ionise, radiate = kinetic(real), _scattered(real), _ionising(real), _radiating(real)
    zero = real(0)

    @inline
    def collide(u, majorant, key, event, tables):
        u2 = squared(u)
        tau = energy_of(u2)
        choice, second = drawn(key, event, _CHOICE)
        depth, aim = -natural(unit(second)), unit(choice) * majorant
        with_elastic, with_ionisation, with_radiation = rates_at(tau, tables)
        process, secondary = NOTHING, (zero, zero, zero)
        if aim <= with_elastic:
            process, u = scatter(u, u2, key, event)
        elif aim <= with_ionisation:
            process, u, secondary = ionise(u, u2, tau, key, event, tables.cut)
        elif aim <= with_radiation:
            process, u = RADIATION, radiate(u, u2, tau, key, event, tables.cut)
        return process, u, secondary, depth

    return collide
