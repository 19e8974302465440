"""A spot's first street searched or solved alone, what such play gives away, and the agent that plays so."""
