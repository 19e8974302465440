"""Treeplex."""
