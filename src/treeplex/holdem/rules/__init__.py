"""Poker by its rules: spots as games, small poker games by name, public states."""
