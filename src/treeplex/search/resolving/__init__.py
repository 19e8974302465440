"""Re-solving behind gadgets: carried values, re-solving agents, self-improvement."""
