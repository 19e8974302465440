"""Whole hold'em: the game from the blinds to the showdown, for two players and more."""
