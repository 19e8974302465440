"""Kernels over arrays: the four operations of ``docs/design.md``, compiled with Numba. Nothing here knows a game."""
