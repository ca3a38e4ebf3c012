"""Dissipative particle dynamics: the paper `dpd`."""
