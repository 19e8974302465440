"""Agents by name: what stands behind ``tp.agent`` and every command that takes an agent."""
