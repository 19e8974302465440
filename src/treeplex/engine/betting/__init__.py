"""Kernels for betting in card games: pot settlement, and sampled search of betting rounds."""
