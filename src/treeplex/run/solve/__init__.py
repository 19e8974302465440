"""Solving of any game: the loop, its folder and its solution."""
