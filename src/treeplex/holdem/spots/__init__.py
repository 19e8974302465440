"""Hold'em spots: their definition, fields and files."""
