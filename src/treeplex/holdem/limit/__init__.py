"""Limit hold'em in buckets: compiled or street by street, solved, judged and played."""
