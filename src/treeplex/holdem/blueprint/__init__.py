"""Blueprints of whole hold'em: Monte Carlo CFR over buckets, the policy that it leaves, and the agent that plays it."""
