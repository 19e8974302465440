"""Showdowns: hand strength on complete boards, folds and showdowns with card removal, equities over runouts."""
