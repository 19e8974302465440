"""Compiled games (treeplexes and payoff operators), policies, and imports and exports."""
