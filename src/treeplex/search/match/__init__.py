"""Matches: agents against each other, exactly where possible, else hand by hand."""
