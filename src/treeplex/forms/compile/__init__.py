"""Compilers from rules to compiled games: history walks, public trees, assembly."""
