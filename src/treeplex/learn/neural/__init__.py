"""Deep learners that sample games; each has one file and uses shared features, approximators, buffers and traversals."""
