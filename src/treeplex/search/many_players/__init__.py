"""Search with any number of players, as Pluribus does it, and betting rounds searched by sampling."""
