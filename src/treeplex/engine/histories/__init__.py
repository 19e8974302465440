"""Kernels that walk single histories: sampling schemes, their variance, subtrees and random streams."""
