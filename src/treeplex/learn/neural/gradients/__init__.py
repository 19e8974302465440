"""Policy-gradient learners for zero-sum and cooperative games."""
