"""Blueprints of full-game hold'em: Monte Carlo CFR over buckets, the resulting policy, and the agent that plays it."""
