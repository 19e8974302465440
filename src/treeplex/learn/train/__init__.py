"""Train: the learners by name, one door to all of them, and custom learners."""
