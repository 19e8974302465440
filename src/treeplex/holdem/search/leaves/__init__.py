"""Leaf values of hold'em searches: networks, exact endgames, continuations, all-ins."""
