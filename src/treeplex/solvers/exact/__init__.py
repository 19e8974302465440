"""Exact solvers: linear programs, backward recursion, static games."""
