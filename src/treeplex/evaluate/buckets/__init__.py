"""Judging policies of limit hold'em in buckets: best responses and matches."""
