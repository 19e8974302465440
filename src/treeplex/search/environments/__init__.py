"""Gymnasium and PettingZoo environments of games, and players from other libraries."""
