"""Shared parts of learners: fitting, replay, schedules, workers."""
