"""Named agents, for ``tp.agent`` and every command that takes an agent."""
