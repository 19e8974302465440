"""Solve hold'em spots and batches of boards; files of solved spots; searches on turns."""
