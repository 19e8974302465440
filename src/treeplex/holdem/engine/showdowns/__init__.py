"""Showdowns: the strength of hands on complete boards, folds and showdowns with card removal, equities over boards to come."""
