"""Hold'em in the page: spots from nothing, solved ones and their nodes, charts before the flop."""
