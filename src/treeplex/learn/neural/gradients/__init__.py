"""Learners whose policy follows gradients, in zero-sum and in cooperative games."""
