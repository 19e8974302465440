"""Agents at tables elsewhere: the competition's protocol, and servers that are asked over HTTP. Nothing connects by itself."""
