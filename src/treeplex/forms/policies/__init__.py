"""Policies: of compiled games, sparse tables, and their files."""
