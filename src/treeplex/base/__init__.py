"""Foundations: errors aside, everything that any layer may use and that knows no game."""
