"""Full-game hold'em: the game from the blinds to the showdown, for two or more players."""
