"""Exact solutions for two fluids: layers between plates, contact angles, phases in equilibrium, surface tension."""

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, root

from repro.errors import InputError

from .forces import STRENGTH, links_of


def layered_velocity(y, inner: float, half: float, forces: tuple[float, float], viscosities: tuple[float, float]):
    """Velocity along plates at y = -half and half, of a fluid in |y| < inner between layers of another one.

    `forces` per volume and dynamic `viscosities` of the inner and of the outer fluid. No slip at the plates; velocity
    and shear stress are continuous. The correct form of equation 6.2 of the porous paper, which lacks what the
    difference of the forces adds.
    """
    y, pull = np.abs(np.asarray(y, float)), (forces[0] - forces[1]) * inner / viscosities[1]
    printed = layered_velocity_as_printed(y, inner, half, forces, viscosities)
    return printed + pull * (half - np.maximum(y, inner))


def layered_velocity_as_printed(
    y, inner: float, half: float, forces: tuple[float, float], viscosities: tuple[float, float]
):
    """Equation 6.2 of the porous paper as printed: right for equal forces only."""
    y = np.abs(np.asarray(y, float))
    outside = forces[1] * (half**2 - np.maximum(y, inner) ** 2) / (2 * viscosities[1])
    return outside + forces[0] * (inner**2 - np.minimum(y, inner) ** 2) / (2 * viscosities[0])


def contact_angle(
    wetting: tuple[float, float], interaction: float, difference: float, solid_density: float = 1.0
) -> float:
    """Contact angle of fluid a in degrees by Huang, Thorne, Schaap, Sukop, Phys. Rev. E 76 (2007) 066701:

    cos theta = (g_bs - g_as) rho_s/(g d/2), with d the `difference` between the densities of a fluid in both phases
    over the total density. 0 or 180 where a fluid wets the solid completely.
    """
    cosine = (wetting[1] - wetting[0]) * solid_density / (interaction * difference / 2)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def surface_tension(density_a, density_b, interaction: float, stencil: str) -> float:
    """Surface tension of flat interfaces in a profile of the densities along x (nodes,), periodic, summed over them.

    The integral of normal minus tangential pressure. Two nodes at a distance e act on each other with the weight of the
    stencil, and carry g/2 of it as pressure along e (Shan, Phys. Rev. E 77 (2008) 066702); the kinetic pressure is the
    same in all directions.
    """
    a, b = np.asarray(density_a, float), np.asarray(density_b, float)
    tension = 0.0
    for (ex, ey, _), weight in links_of(stencil):
        pair = (a * np.roll(b, -ex) + b * np.roll(a, -ex)).sum()
        tension += interaction * weight * (ex**2 - ey**2) * pair
    return float(tension)


def coexistence(interaction: float, *, density: float | None = None, pressure: float | None = None):
    """Densities (majority, minority) of two phases in equilibrium across a flat interface.

    Of all equilibria that where a phase has the given total `density`, or the given `pressure`. At rest the force on
    each fluid balances its own pressure: ln(rho_k)/3 + 6 g rho_other is the same on both sides, and the phases mirror
    each other. InputError where the fluids mix.
    """
    if (density is None) == (pressure is None):
        raise InputError("give either the density or the pressure of the phases")
    strength = STRENGTH * interaction

    def densities(ratio: float) -> tuple[float, float]:
        # ln(H/L)/3 = 6 g (H - L) with H = ratio L
        low = np.log(ratio) / (3 * strength * (ratio - 1))
        return ratio * low, low

    def excess(log_ratio: float) -> float:
        high, low = densities(np.exp(log_ratio))
        if pressure is None:
            return high + low - density
        return (high + low) / 3 + strength * high * low - pressure

    # at a ratio of one the phases are the same: below that there is only one
    if not (interaction > 0 and excess(1e-6) < 0):
        given = f"density {density}" if pressure is None else f"pressure {pressure}"
        raise InputError(f"interaction {interaction} at {given}: the fluids mix, there is one phase")
    return densities(np.exp(brentq(excess, 1e-6, 500)))


#: nodes on each side of the interface of `lattice_interface`; its densities settle within a few
_SIDE = 24

#: of the profiles that its search starts from, tried in turn
_STEEPNESS = (2.0, 1.0, 0.5, 3.0, 0.25)


@lru_cache(maxsize=32)
def lattice_interface(interaction: float, density: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (their distance from a flat interface) and the density of the fluid that is behind it, at rest.

    The densities of a lattice, for phases of a total `density`; those of the other fluid are the mirror image. Where an
    interface is two nodes thick, differences are not derivatives, and the phases are not those of `coexistence`. At
    rest and for a relaxation time of 1 what streams in balances where, with the other fluid's density r_k,

        rho_k(x + 1) - rho_k(x) = 3/2 (F_k(x) + F_k(x + 1)),   F_k(x) = -3 g rho_k(x) (r_k(x + 1) - r_k(x - 1))

    (from equation 2.16 with u_eq = 0). Any stencil that knows only neighbours gives this force. InputError where the
    fluids mix, and where one vanishes from the other's phase.
    """
    high, low = coexistence(interaction, density=density)
    nodes = np.arange(-_SIDE, _SIDE) + 0.5

    def imbalance(logarithms):
        a = np.exp(logarithms)
        b = a[::-1]
        wide = np.pad(b, 1, mode="edge")
        force = -STRENGTH / 2 * interaction * a * (wide[2:] - wide[:-2])
        return np.append(np.diff(a) - 1.5 * (force[1:] + force[:-1]), a[0] + b[0] - density)

    for steepness in _STEEPNESS:
        start = low + (high - low) / (1 + np.exp(np.clip(steepness * nodes, -30, 30)))
        with np.errstate(all="ignore"):
            found = root(imbalance, np.log(start), method="lm", tol=1e-13).x
            a = np.exp(found)
        # a profile that waves up and down balances, too, and is no interface
        falls = np.diff(a).max() < 1e-9
        if np.abs(imbalance(found)).max() < 1e-9 and falls and a[-1] > 1e-6:
            return nodes, a
    raise InputError(
        f"interaction {interaction} at density {density}: no flat interface is at rest, one fluid vanishes from the "
        "other's phase; use a weaker interaction"
    )


def lattice_coexistence(interaction: float, *, density: float) -> tuple[float, float]:
    """Densities (majority, minority) far from a flat interface, see `lattice_interface`."""
    _, a = lattice_interface(interaction, density)
    return float(a[0]), float(a[-1])
