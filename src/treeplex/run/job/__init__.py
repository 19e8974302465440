"""What every long job shares: folders, records, checkpoints, interruption, memory."""
