"""Agents by name: what stands behind ``tp.agent``, ``treeplex agents`` and every command that asks for an opponent."""
