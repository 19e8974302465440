"""What learners share: fitting, replay, schedules, workers."""
