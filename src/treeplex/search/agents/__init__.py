"""Agents: the protocol, agents that search or follow rules, and those in users' own files."""
