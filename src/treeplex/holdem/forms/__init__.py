"""Compiled hold'em spots: betting trees, boards and hands as arrays, and the forms that solvers iterate on."""
