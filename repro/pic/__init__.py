"""Electrons in their own electromagnetic field: trajectories by segments, charge-conserving current, Yee's fields."""
