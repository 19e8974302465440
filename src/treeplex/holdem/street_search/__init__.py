"""Street-by-street search in full-game hold'em: one street on many boards as a subgame, and agents that search it."""
