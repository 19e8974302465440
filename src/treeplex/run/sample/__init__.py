"""Sampling of games too large to compile: the loop, its folder and its plot."""
