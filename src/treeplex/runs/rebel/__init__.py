"""Train ReBeL and judge it: runs, folders, settings and plots."""
