"""Experiments of the paper on electrons in their own field."""
