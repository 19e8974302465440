"""Compile hold'em spots: betting trees, boards and hands for the hold'em engine."""
