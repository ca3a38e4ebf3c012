"""The equations of weakly compressible SPH, each for one particle or one pair.

A density is kept as its condensation s = (rho - rho0) / rho0, because all pressure depends on it: water at 300 Pa has
s = 4e-5, of which rho in single precision would leave nine bits. Vectors between particles come in smoothing lengths,
e = (x_a - x_b) / h, and q = |e|; a sum over neighbours b leaves the mass and the powers of h to the particle.
"""

from functools import cache

from numpy import float64

from repro.parallel import device_function, fma

#: gamma of the Tait equation
GAMMA = 7

#: Becker and Teschner's epsilon, which keeps the viscosity finite between particles that meet
SOFTENING = 0.01


@device_function
def tait(s, stiffness):
    """Equation 5 in Pa, B ((1 + s)^7 - 1), without the difference of like numbers."""
    seven, twenty_one, thirty_five = type(s)(7), type(s)(21), type(s)(35)
    third = fma(fma(s + seven, s, twenty_one), s, thirty_five)
    series = fma(fma(fma(third, s, thirty_five), s, twenty_one), s, seven)
    return stiffness * s * series


@device_function
def pressure_term(s, stiffness):
    """A particle's share of equation 6 times rho0^2, p / (1 + s)^2 in Pa."""
    ratio = type(s)(1) + s
    return tait(s, stiffness) / (ratio * ratio)


@device_function
def divergence_terms(e, du, slope):
    """A neighbour's share of equation 4, (u_a - u_b) . grad W, axis by axis, times h^4 over the kernel's norm.

    du = u_a - u_b; with e in its place, of the sum of x dW/dx (see `fluid.Resolution.lattice_slope`).
    """
    return slope * e[0] * du[0], slope * e[1] * du[1], slope * e[2] * du[2]


@device_function
def viscous_term(e, du, square, viscosity):
    """Artificial viscosity of particles that approach, Pi_ab rho0^2 in Pa.

    Pi = -alpha c h (u . x) / (rho (x^2 + 0.01 h^2)) for u . x < 0 and zero else: Monaghan, Annu. Rev. Astron.
    Astrophys. 30 (1992) 543, without his quadratic term, as Becker and Teschner 2007, equation 11. `viscosity` is
    rho0 alpha c; the mean density is taken for rho0, from which it differs by less than a percent.
    """
    approach = fma(e[0], du[0], fma(e[1], du[1], e[2] * du[2]))
    return -viscosity * min(approach, type(approach)(0)) / (square + type(square)(SOFTENING))


@cache
def make_xsph_mean(real):
    """The mean of the neighbours' values, weighted with the kernel, zero without any: mean(weighted, weight).

    It is the velocity towards which XSPH draws a particle's own (Monaghan, J. Comput. Phys. 82 (1989) 1), and what a
    ghost has for its own. Both sums are in double precision.
    """
    zero, one, nothing = real(0), float64(1), float64(0)

    @device_function
    def mean(weighted, weight):
        return real(weighted * (one / weight)) if weight > nothing else zero

    return mean


@device_function
def momentum_term(own, other, viscous, slope):
    """The factor of e in a neighbour's share of equation 6, with artificial viscosity: symmetric in a and b.

    `own` and `other` are the particles' p / (1 + s)^2. Over rho0 h and the lattice's slope it is an acceleration.
    """
    return -(own + other + viscous) * slope


@device_function
def diffusion_term(own, other, weight, depth, slope):
    """A neighbour's share of density diffusion, 2 (s_b - s_a) (x . grad W) / x^2 with the sign that evens out: Molteni
    and Colagrossi, Comput. Phys. Commun. 180 (2009) 861, less the pressure of water at rest, as Fourtakas and others,
    Comput. Fluids 190 (2019) 346.

    In place of s stands p / (1 + s)^2 of both, about rho0 c^2 s: then what diffuses takes energy. Water at rest has
    `weight` more a smoothing length, and the neighbour lies `depth` of them deeper: that does not diffuse.
    """
    return -slope * fma(-weight, depth, other - own)
