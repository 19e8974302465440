"""Matches: agents against each other, exactly where that can be, else hand by hand."""
