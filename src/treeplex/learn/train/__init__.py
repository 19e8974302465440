"""Training: the registry of learners, a single entry point, and custom learners."""
