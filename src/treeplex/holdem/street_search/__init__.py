"""Whole hold'em searched street by street: a street on many boards at once as a subgame, and agents that solve it."""
