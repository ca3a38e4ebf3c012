"""Lattice Boltzmann solvers: equations, boundary schemes, streaming strategies and the papers' cases."""
