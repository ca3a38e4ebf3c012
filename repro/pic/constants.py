"""Constants of nature in SI units (CODATA, from SciPy)."""

from scipy import constants

#: elementary charge in C, mass of an electron in kg, and speed of light in m/s
CHARGE, MASS, LIGHT = constants.e, constants.m_e, constants.c

#: permittivity and permeability of vacuum in F/m and H/m
PERMITTIVITY, PERMEABILITY = constants.epsilon_0, constants.mu_0

#: rest energy of an electron in eV
REST_ENERGY = MASS * LIGHT**2 / CHARGE

#: least size of what a user gives, so that double precision holds its products
SMALLEST = 1e-30
