"""Training data for deep learners: traversals and episodes in compiled or uncompiled games, run as worker jobs, and critics."""
