"""Several processes that share a box: who has what, guard cells, particles that cross, and what ends them all."""
