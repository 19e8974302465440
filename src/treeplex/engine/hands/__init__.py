"""Kernels for public trees over hands: poker."""
