"""Runs: solve, compare, sample, train; run folders, plots. Imports nothing, so that the command line starts quickly."""
