"""Experiments of the thesis on lattice Boltzmann in cavities, ducts and porous media, with one and two fluids."""
