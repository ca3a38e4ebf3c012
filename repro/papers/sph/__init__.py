"""Experiments of the paper on smoothed particle hydrodynamics with ghost particles."""
