"""Kernels that walk rules given as Numba functions, so that no history is stored."""
