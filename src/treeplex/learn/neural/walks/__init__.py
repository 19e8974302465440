"""Training data for the neural learners: traversals and episodes on compiled or uncompiled games, run as worker jobs, and
critics."""
