"""Exact solutions to check against."""

import numpy as np


def duct_velocity(x, y, side: float, force: float, viscosity: float, terms: int = 400):
    """Velocity along a square duct at (x, y), |x|, |y| <= side/2, driven by `force` per mass.

    The correct form of equation 4.3 of the porous paper (White, Viscous Fluid Flow, 3-48):
    U0 sum over odd i of (-1)^((i-1)/2) [1 - cosh(i pi x/a)/cosh(i pi/2)] cos(i pi y/a)/i^3, U0 = 4 a^2 F/(nu pi^3).
    """
    x, y = np.broadcast_arrays(np.asarray(x, float) / side, np.asarray(y, float) / side)
    scale = 4 * side**2 * force / (viscosity * np.pi**3)
    total = np.zeros_like(x)
    for i in range(1, 2 * terms, 2):
        # cosh(a)/cosh(b) without overflow for large i
        a, b = np.abs(i * np.pi * x), i * np.pi / 2
        ratio = np.exp(a - b) * (1 + np.exp(-2 * a)) / (1 + np.exp(-2 * b))
        total += (-1) ** ((i - 1) // 2) * (1 - ratio) * np.cos(i * np.pi * y) / i**3
    return scale * total


def duct_velocity_as_printed(x, y, side: float, force: float, viscosity: float, terms: int = 50):
    """Equation 4.3 of the porous paper taken literally, to show that it cannot be meant."""
    x, y = np.broadcast_arrays(np.asarray(x, float) / side, np.asarray(y, float) / side)
    scale = 4 * side * force / (viscosity * np.pi**3)
    total = np.zeros_like(x)
    for i in range(1, terms + 1):
        total += (-1) ** i * (1 - np.cosh(np.pi * x * i) / np.cosh(np.pi * i / 2)) * np.pi * y * i / i**3
    return scale * total


def sphere_drag(chi, coefficients):
    """d* = F/(6 pi mu r U), the drag on a sphere of a periodic array at superficial velocity U (equation 5.4).

    `coefficients` are the alpha_n of Sangani and Acrivos, Int. J. Multiphase Flow 8 (1982) 343, in
    data/reference/sangani_acrivos_bcc.csv. The series is cut off at n = 30: within 0.04 % up to chi = 0.8, 0.2 % too
    low at 0.85 and 2 % at 0.95.
    """
    return np.polynomial.polynomial.polyval(np.asarray(chi, float), np.asarray(coefficients, float))


def bcc_permeability(chi, side: float, coefficients):
    """k of body-centred cubic spheres in a cell of length `side`: side^3/(12 pi r d*), from the balance of forces.

    Two spheres a cell take the force (mu/k) U side^3. Equation 5.3 of the porous paper has a porosity too many.
    """
    radius = side * (np.sqrt(3) / 4) * np.asarray(chi, float)
    return side**3 / (12 * np.pi * radius * sphere_drag(chi, coefficients))


def bcc_permeability_as_printed(chi, side: float, coefficients):
    """Equation 5.3 as printed: 2 eps r^2/(9 d* (1 - eps)), with the correct porosity eps."""
    return (1 - np.sqrt(3) * np.pi / 8 * np.asarray(chi, float) ** 3) * bcc_permeability(chi, side, coefficients)


#: the unit of a force in plain single-precision populations: 3 w F is one unit in the last place of w = 1/18 or 1/36
FORCE_UNIT = float(6 * np.spacing(np.float32(1 / 18)))


def rounded_force(force):
    """The force per volume along an axis that a D3Q19 program feels which keeps f in single precision.

    Such a program adds 3 w F to populations near w = 1/18 and 1/36, in single precision a whole number of units in
    their last place; in both classes that is a whole number of FORCE_UNIT.
    """
    return np.round(np.asarray(force, float) / FORCE_UNIT) * FORCE_UNIT
