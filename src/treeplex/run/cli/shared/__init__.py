"""Shared by commands: arguments, console output, progress, and exit codes."""
