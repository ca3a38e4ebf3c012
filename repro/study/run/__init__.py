"""Executes notebooks."""
