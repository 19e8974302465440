"""Searching or solving only a spot's first street, with leaf values from networks, and the agent that plays this way."""
