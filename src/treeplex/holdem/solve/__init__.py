"""Solving hold'em spots: runs, files, solutions, memory estimates and evaluation."""
