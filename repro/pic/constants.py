"""Constants of nature in SI units (CODATA, from SciPy)."""

from scipy import constants

#: elementary charge in C
CHARGE = constants.e

#: mass of an electron in kg
MASS = constants.m_e

#: speed of light in m/s
LIGHT = constants.c

#: permittivity and permeability of vacuum in F/m and H/m
PERMITTIVITY = constants.epsilon_0
PERMEABILITY = constants.mu_0

#: rest energy of an electron in eV
REST_ENERGY = MASS * LIGHT**2 / CHARGE

#: least size of what a user gives, so that double precision holds its products
SMALLEST = 1e-30
