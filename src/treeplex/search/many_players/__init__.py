"""Search with any number of players, as in Pluribus, and sampled search of betting rounds."""
