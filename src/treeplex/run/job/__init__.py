"""Infrastructure of long jobs: folders, records, checkpoints, interruption."""
