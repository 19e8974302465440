"""Train: the learners by name, one door to all of them, and learners of one's own."""
