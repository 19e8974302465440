"""Searches that start from a guess of the policies."""
