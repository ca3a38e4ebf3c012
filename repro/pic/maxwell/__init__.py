"""Maxwell's equations on the mesh: Yee's scheme, absorbing layers, exact waves, and the way over the bus."""
