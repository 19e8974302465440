"""Reproductions of published tables and figures: a folder for each paper, a file for each study; see README.md."""
