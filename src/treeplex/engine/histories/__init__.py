"""Kernels over stored histories: episodes, hands between policy tables, reaches and subtrees."""
