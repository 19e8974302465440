"""Agents for hold'em by name: blueprints, and searches on top of them."""
