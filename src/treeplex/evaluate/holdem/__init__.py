"""Judging hold'em spots: exploitability and the values of every hand at a node."""
