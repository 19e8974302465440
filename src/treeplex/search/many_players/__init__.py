"""Search with any number of players, as in Pluribus, and betting-round search on sampled deals."""
