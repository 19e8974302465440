"""Runs: solve, sample and compare, with resumable folders; the commands of the core."""
