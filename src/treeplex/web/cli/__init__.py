"""The command ``treeplex web``."""
