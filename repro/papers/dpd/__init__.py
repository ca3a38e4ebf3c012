"""Experiments of the paper on dissipative particle dynamics."""
