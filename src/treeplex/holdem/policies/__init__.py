"""Policies on hold'em spots: lines and hands, judged, locked, viewed; from networks and from files."""
