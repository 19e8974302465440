"""Betting: sizes, rules and trees."""
