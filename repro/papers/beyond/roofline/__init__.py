"""How near each production kernel is to what the hardware allows, and what a step takes by size."""
