"""The command line: the entry point and the commands of the core."""
