"""Tables of hold'em at which people play."""
