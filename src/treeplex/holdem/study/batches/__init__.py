"""Batches: one spot solved on many boards, with lists of boards, workers and reports."""
