"""Gymnasium and PettingZoo environments of games, and players of other libraries."""
