"""Warm starts: searches that start from a guess of the policies."""
