"""Spots split into parts: the first street is the trunk, and the boards below are solved one part at a time or by workers."""
