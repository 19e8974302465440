"""Runs: solve, sample, train and compare, with folders that resume; plots."""
