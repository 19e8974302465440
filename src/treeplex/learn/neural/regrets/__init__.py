"""Learners of regrets: Deep CFR and its family."""
