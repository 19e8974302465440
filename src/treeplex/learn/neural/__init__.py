"""Deep learners that sample games: one file each, on shared features, approximators, buffers and traversals."""
