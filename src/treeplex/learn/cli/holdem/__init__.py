"""Commands under ``treeplex holdem`` that need networks."""
