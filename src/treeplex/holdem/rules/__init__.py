"""Poker rules: spots as games, named small poker games, and public states."""
