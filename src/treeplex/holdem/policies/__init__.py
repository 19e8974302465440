"""Policies on hold'em spots: lines, hands, evaluation, locks and views, including policies from networks and files."""
