"""Poker: cards, formats, ranges, bet sizes, spots and their betting trees."""
