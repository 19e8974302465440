"""Limit hold'em in buckets: the abstract game, its betting, its clusters and files of strengths."""
