"""Spots split into parts: the first street is the trunk, and the boards below it are solved part by part or by workers."""
