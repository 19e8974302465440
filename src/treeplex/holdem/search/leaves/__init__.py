"""Leaf values for hold'em searches: networks, exact endgames, continuations, all-ins."""
