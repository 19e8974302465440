"""Batches: solves one spot on many boards, with board lists, workers and reports."""
