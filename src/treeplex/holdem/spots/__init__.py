"""Hold'em spots: the situation, its fields and its files."""
