"""Browsing strategies on game trees."""
