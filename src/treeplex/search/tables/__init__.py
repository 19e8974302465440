"""Tables at which people play."""
