"""Kernels over stored histories: episodes, matches between policy tables, reach probabilities and subtrees."""
