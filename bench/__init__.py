"""Benchmarks: a file for each; see README.md."""
