"""Subgames solved again behind gadgets: what is carried to them, the agents that do it, and a blueprint made better by it."""
