"""Solvers over hands for hold'em spots."""
