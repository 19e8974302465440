"""Monte Carlo CFR: on compiled games, and over rules that are never compiled."""
