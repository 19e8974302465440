"""A spot's first street searched or solved alone with networks, what they give away, and the agent that plays so."""
