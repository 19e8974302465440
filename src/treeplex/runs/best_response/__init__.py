"""Trainings of best responses: the learner ``best-response``."""
