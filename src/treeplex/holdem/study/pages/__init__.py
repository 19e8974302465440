"""Solved spots as HTML pages, and range grids as text and images."""
