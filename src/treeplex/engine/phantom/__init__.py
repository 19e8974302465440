"""Phantom games by timelines: the infosets of both players that fit one are all combinations."""
