"""Tests, mirroring the source."""
