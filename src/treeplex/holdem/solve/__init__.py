"""Solving hold'em spots: the run, its file, the solution, locks, memory and judge."""
