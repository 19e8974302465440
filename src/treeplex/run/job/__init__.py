"""Infrastructure for long jobs: folders, records, checkpoints, interruption."""
