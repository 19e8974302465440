"""Agents, and games between them."""
