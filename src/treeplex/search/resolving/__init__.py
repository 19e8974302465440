"""Re-solving with gadgets: carried values, re-solving agents, self-improvement."""
