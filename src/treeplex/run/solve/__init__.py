"""Solve any game: the loop, its folder and its solution."""
