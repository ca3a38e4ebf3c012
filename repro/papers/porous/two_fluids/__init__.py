"""The porous paper's chapter 6: two fluids."""
