"""Hold'em tables at which people play."""
