"""Commands for hold'em players: ``treeplex holdem ...``."""
