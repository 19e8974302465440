"""Kernels for the betting of card games: who wins which pot, and rounds searched by sampling."""
