"""Policies on hold'em spots: lines and hands, judgements, locks and views; from networks and from files."""
