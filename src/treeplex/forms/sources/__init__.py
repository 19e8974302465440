"""Sources of games: specs, Python files, Gambit, LiteEFG and OpenSpiel."""
