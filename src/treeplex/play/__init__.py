"""Play: the command line, and environments for learners."""
