"""Agents at external tables: the ACPC protocol, and HTTP servers. Nothing connects by itself."""
