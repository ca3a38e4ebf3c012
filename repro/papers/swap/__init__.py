"""Experiments of the paper on swap streaming, lattice Boltzmann in one array."""
