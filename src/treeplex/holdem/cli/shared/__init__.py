"""Code shared by the commands for hold'em players."""
