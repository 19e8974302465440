"""Betting: sizes, moves and trees."""
