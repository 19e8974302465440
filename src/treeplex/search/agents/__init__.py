"""Agents: the protocol, agents that search or follow rules, and custom agents from files."""
