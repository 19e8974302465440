"""Commands of ``treeplex holdem`` that need networks."""
