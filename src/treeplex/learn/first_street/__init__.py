"""Search of a spot's first street with leaf values from networks, and the agent that plays with this search."""
