"""Trainings of DeepStack's value networks, as jobs."""
