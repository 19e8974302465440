"""Learners of best responses, and of what they respond to."""
