"""Where games come from: specs, Python files, Gambit, LiteEFG and OpenSpiel."""
