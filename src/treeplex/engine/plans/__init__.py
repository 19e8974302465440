"""Kernels over joint plans: correlated play and learning in normal form."""
