"""Streaming by swaps: the swap paper's rule (`rule`), its serial sweep and the parallel forms."""
