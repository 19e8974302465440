"""Evaluation of agents: AIVAT, local best response, exact winnings and statistics."""
