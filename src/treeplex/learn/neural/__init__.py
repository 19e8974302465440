"""Learners that sample games and fit networks: one file each, on the frame of features, approximators, buffers and walks."""
