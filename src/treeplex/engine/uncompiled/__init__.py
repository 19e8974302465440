"""Kernels that walk rules given as Numba functions, without storing histories."""
