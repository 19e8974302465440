"""Runs: solve, sample and compare, with folders that resume; the core's commands."""
