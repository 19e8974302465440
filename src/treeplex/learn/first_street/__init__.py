"""Searches a spot's first street with leaf values from networks; also the agent that plays with this search."""
