"""Rules of poker: spots as games, small poker games by name, public states."""
