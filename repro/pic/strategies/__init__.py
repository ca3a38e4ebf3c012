"""Ways to move the particles: the same trajectories, and the same sums of currents, to the last bit."""
