"""Agents that search or follow rules, and those in users' own files."""
