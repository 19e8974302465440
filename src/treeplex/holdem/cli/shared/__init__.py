"""What the commands for hold'em players share."""
