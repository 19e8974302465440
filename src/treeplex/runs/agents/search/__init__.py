"""Agents by name that search while they play, and the blueprints that they take."""
