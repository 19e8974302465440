"""Solve limit hold'em in buckets and look at the strategy."""
