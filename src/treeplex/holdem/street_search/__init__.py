"""Street-by-street search of full-game hold'em: a street on many boards as a subgame, and agents that search it."""
