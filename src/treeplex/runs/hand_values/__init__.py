"""Trainings of value networks for single hands, as jobs."""
