"""How fast the particles move: the paper's way on a GPU, today's ways, and the same on the cores of a CPU."""
