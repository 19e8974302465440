"""Re-solving with gadgets: values carried between subgames, re-solving agents, self-improvement."""
