"""Hold'em in buckets: hands of like strength as one, and the game that is left."""
