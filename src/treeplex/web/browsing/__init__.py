"""Strategies on the trees of games."""
