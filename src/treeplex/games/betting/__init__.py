"""Betting in card games, independent of the cards: bet sizes, betting trees, pot settlement, table rows of hands."""
