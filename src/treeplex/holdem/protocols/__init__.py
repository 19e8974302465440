"""Agents at external tables: the ACPC protocol, and HTTP servers. No connection is made unless requested."""
